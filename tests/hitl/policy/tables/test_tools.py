"""The table of tools: which names are known, and what each argument means."""

import pytest

from hitl.policy.tables import tools


@pytest.mark.parametrize(
    ("name", "kind", "role", "argument"),
    [
        ("Bash", "command", "command", "command"),
        ("exec_command", "command", "command", "cmd"),
        ("exec_command", "command", "folder", "workdir"),
        ("run_shell_command", "command", "folder", "directory"),
        ("Read", "read", "reads", "file_path"),
        ("read_file", "read", "reads", "absolute_path"),
        ("read_many_files", "read", "reads", "include"),
        ("Glob", "list", "reads", "pattern"),
        ("Grep", "search", "reads", "path"),
        ("NotebookEdit", "edit", "writes", "notebook_path"),
        ("replace", "edit", "content", "new_string"),
        ("move_file", "move", "writes", "destination"),
        ("WebFetch", "fetch", "url", "url"),
        ("web_fetch", "fetch", "url", "prompt"),
        ("mcp__filesystem__read_multiple_files", "read", "reads", "paths"),
        ("mcp_filesystem_write_file", "write", "writes", "path"),
    ],
)
def test_a_known_tool_has_a_kind_and_names_its_arguments(name: str, kind: str, role: str, argument: str) -> None:
    """Tools of the hosts and reference servers are known, whatever they call their arguments."""
    found = tools.shape("", name)
    assert found is not None
    assert found.kind == kind
    assert argument in getattr(found, role)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("Bash", "env"),
        ("bash", "env"),
        ("bash", "shell"),
        ("bash", "mode"),
        ("exec_command", "shell"),
        ("exec_command", "sandbox_permissions"),
        ("exec_command", "prefix_rule"),
        ("run_shell_command", "additional_permissions"),
        ("list", "command"),
        ("read_file", "command"),
    ],
)
def test_an_argument_that_could_do_harm_is_never_harmless(name: str, argument: str) -> None:
    """An argument that chooses a shell, an environment, a sandbox or a revision is unknown."""
    found = tools.shape("", name)
    assert found is not None
    assert argument not in found.harmless | found.off


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("Bash", "run_in_background"),
        ("Bash", "dangerouslyDisableSandbox"),
        ("bash", "isBackground"),
        ("run_terminal_cmd", "is_background"),
        ("exec_command", "tty"),
        ("grep_search", "no_ignore"),
    ],
)
def test_a_switch_is_harmless_only_when_it_is_off(name: str, argument: str) -> None:
    """Background runs, terminals and switched-off protection are harmless only if the switch is off."""
    found = tools.shape("", name)
    assert found is not None
    assert argument in found.off
    assert argument not in found.harmless


@pytest.mark.parametrize(
    "name",
    ["", "Task", "Agent", "write_stdin", "write_bash", "ExitPlanMode", "save_memory", "get_secret", "readfile",
     "mcp__mail__read", "mcp__filesystem__delete_everything", "filesystem__read_file", "mcp__memory__create_entities"],
)  # fmt: skip
def test_a_tool_that_the_table_does_not_list_is_unknown(name: str) -> None:
    """Tools that start agents, type into shells or aren't listed have no shape."""
    assert tools.shape("", name) is None


def test_a_known_server_has_its_own_tools_only() -> None:
    """In the group of a known server, tools of hosts aren't known and the server's arguments count."""
    assert tools.shape("time", "Bash") is None
    assert tools.shape("filesystem", "search_files") == tools.shape("", "mcp__filesystem__search_files")
    assert tools.shape("filesystem", "search_files") != tools.shape("", "search_files")


def test_the_stricter_meaning_of_an_argument_counts() -> None:
    """Two hosts' tools of one name are joined: a named role before `off`, and `off` before `harmless`."""
    found = tools.parse(
        "[read one]\nnames = look\nreads = path\nharmless = where deep\n"
        "[read two]\nnames = look\nreads = where\noff = deep\n"
    )
    assert found["", "look"] == tools.Shape("read", reads=("path", "where"), off=frozenset({"deep"}))


@pytest.mark.parametrize(
    "text", ["[destroy]\nnames = x\n", "[read]\nnames = x\nread = y\n", "[read]\nnames = x\n[write]\nnames = x\n"]
)
def test_a_mistake_in_the_data_is_an_error(text: str) -> None:
    """An unknown kind, an unknown key, and a name with two kinds raise ValueError."""
    with pytest.raises(ValueError, match="read"):  # every message names the section or the kinds
        tools.parse(text)


def test_no_argument_has_two_meanings_where_one_is_harmless() -> None:
    """In the shipped table, an argument that names something or must be off is never listed as harmless too."""
    for place, one in tools.shapes().items():
        assert not one.harmless & (one.named() | one.off), place


def test_a_tool_may_show_whole_folders_only_with_some_arguments() -> None:
    """`tree_with` lists the arguments with which a call shows the contents of files; `tree` needs none of them."""
    found = tools.parse("[search]\nnames = a b\ntree_with = path\n[search x]\nnames = b\ntree = yes\n")

    assert [found["", "a"].shows_trees(args) for args in ((), ("query",), ("query", "path"))] == [False, False, True]
    assert found["", "b"].shows_trees(())
