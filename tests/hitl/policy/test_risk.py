"""How much harm a call could do, when no rule says."""

from typing import Any

import pytest

from hitl.call import Risk
from hitl.outcomes import Because, because
from hitl.policy import PolicyCall
from hitl.policy.risk import assess, tokens

RISKS = [*Risk]

NAMES = (
    ("get_page", "low"),
    ("getPage", "low"),
    ("listUsers", "low"),
    ("file_read", "low"),
    ("db_lookup", "low"),
    ("image_search", "low"),
    ("get_updates", "low"),
    ("get_run", "low"),
    ("list_deleted_items", "low"),
    ("search_orders", "low"),
    ("created_at", "low"),
    ("max_count", "low"),
    ("update_page", "medium"),
    ("write", "medium"),
    ("fileWrite", "medium"),
    ("create_folder", "medium"),
    ("add_label", "medium"),
    ("send_mail", "high"),
    ("delete_row", "high"),
    ("remove", "high"),
    ("bash", "high"),
    ("BASH", "high"),
    ("run_query", "high"),
    ("gadget_transfer", "high"),
    ("readiness_reset", "high"),
    ("list_delete", "high"),
    ("find_and_replace", "high"),
    ("restart_service", "high"),
    ("chown", "high"),
    ("frobnicate", "high"),
    ("gettysburg", "high"),
    ("listen", "high"),
    ("", "high"),
    ("日本語", "high"),
    ("drop_database", "critical"),
    ("delete_all", "critical"),
    ("format_drive", "critical"),
    ("gadget_wipe", "critical"),
    ("thread_purge", "critical"),
    ("mcp__shop__get_page", "low"),
    ("shop.delete_row", "high"),
    ("update-server/read_row", "low"),
)


@pytest.mark.parametrize(("tool", "level"), NAMES)
def test_a_name_is_read_as_words(tool: str, level: str) -> None:
    """Whole words count as verbs; parts of words, participles and plurals do not; what is not known is high."""
    assert level == RISKS[assess(PolicyCall("", tool, {}))[0]]


ARGUMENTS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("thing", {"action": "remove"}, "high"),
    ("thing", {"action": "Create"}, "medium"),
    ("thing", {"action": "list"}, "medium"),
    ("thing", {"action": "frobnicate"}, "high"),
    ("thing", {"note": "list"}, "high"),
    ("read_row", {"action": "delete"}, "high"),
    ("read_row", {"method": "DELETE"}, "high"),
    ("fetch", {"method": "POST"}, "medium"),
    ("fetch", {"method": "GET"}, "low"),
    ("read_file", {"path": "docs/delete/update.md"}, "low"),
    ("search", {"query": "how to drop a table"}, "low"),
    ("search", {"query": "remove the old rows"}, "low"),
    ("query", {"sql": "DROP TABLE users"}, "critical"),
    ("query", {"sql": "select 1; truncate table logs"}, "critical"),
    ("query", {"sql": "delete from users"}, "critical"),
    ("query", {"sql": "delete from users where id = 1"}, "high"),
    ("query", {"sql": "UPDATE users SET a = 1"}, "medium"),
    ("query", {"sql": "select * from users"}, "low"),
    ("write_file", {"flags": ["x", {"y": "--force"}]}, "high"),
    ("write_file", {"cmd": "git push --force-if-includes"}, "high"),
    ("write_file", {"text": "rm -rf /"}, "critical"),
    ("run", {"command": "rm -r -f ~"}, "critical"),
    ("run", {"command": "cd /; rm --force --one-file-system --recursive *"}, "critical"),
    ("run", {"command": ["rm", "-v", "-f", "-R", "/"]}, "critical"),
    ("run", {"command": "rm -r -i notes"}, "high"),
    ("write_file", {"text": "rm -f one"}, "high"),
    ("write_file", {"text": "dd if=x of=/dev/sda"}, "critical"),
    ("write_file", {"text": "surf the performance of life"}, "medium"),
)


@pytest.mark.parametrize(("tool", "args", "level"), ARGUMENTS)
def test_arguments_raise_the_level(tool: str, args: dict[str, Any], level: str) -> None:
    """An argument may raise any level, and bring an unknown tool down to medium, no further."""
    assert level == RISKS[assess(PolicyCall("", tool, args))[0]]


def test_no_line_is_so_long_that_it_passes_for_harmless() -> None:
    """The time to read 30,000 options grows only linearly. With backtracking it would grow without a limit."""
    line = "rm " + "-r " * 15_000 + "-f " * 15_000 + "notes"

    assert "high" == RISKS[assess(PolicyCall("", "run", {"command": line}))[0]]


HINTS: tuple[tuple[str, dict[str, Any], bool, str], ...] = (
    ("frobnicate", {"readOnlyHint": True}, True, "low"),
    ("frobnicate", {"readOnlyHint": True}, False, "high"),
    ("delete_row", {"readOnlyHint": True}, True, "high"),
    ("update_row", {}, True, "high"),
    ("update_row", {"destructiveHint": False}, True, "medium"),
    ("update_row", {"destructiveHint": False}, False, "high"),
    ("read_row", {"destructiveHint": True}, False, "high"),
    ("read_row", {}, False, "low"),
    ("frobnicate", {"destructiveHint": True}, False, "high"),
    ("write_file", {"destructiveHint": True}, False, "medium"),
    ("write_file", {"readOnlyHint": True}, True, "medium"),
    ("delete_file", {"readOnlyHint": True}, True, "high"),
    ("read_file", {"readOnlyHint": False}, False, "high"),
)


@pytest.mark.parametrize(
    ("args", "level"),
    [
        ({"command": ["rm", "-v", "-rf", "/"]}, "critical"),
        ({"command": ("shred", "key.pem")}, "critical"),
        ({"command": "rm", "args": ["-rf", "~"]}, "critical"),
        ({"command": "wipefs", "args": "-a sda"}, "critical"),
        ({"command": ["rm"], "args": ["-fr", "*"]}, "critical"),
        ({"command": ["cp", "a", "b"], "args": 3}, "low"),
        ({"command": ["ls", "form", "fr"]}, "low"),
        ({"command": None, "args": ["x"]}, "low"),
        ({"command": {"rm": "-r"}}, "low"),
    ],
)
def test_a_command_in_words_is_as_dangerous_as_in_a_line(args: dict[str, Any], level: str) -> None:
    """Given as a list, or with its arguments beside it, it does the same."""
    assert level == RISKS[assess(PolicyCall("", "check", args))[0]]


@pytest.mark.parametrize(("tool", "annotations", "trusted", "level"), HINTS)
def test_hints_lower_only_what_is_unknown_and_trusted(
    tool: str, annotations: dict[str, Any], trusted: bool, level: str
) -> None:
    """A trusted server may say that an unknown tool only reads; every other hint can only raise."""
    call = PolicyCall("", tool, {}, annotations=annotations, trusted_annotations=trusted)

    assert level == RISKS[assess(call)[0]]


def test_a_reason_is_given() -> None:
    """Every level comes with a reason, as a code with its values."""
    assert (2, because(Because.WORD_ACTS, "'transfer'")) == assess(PolicyCall("", "gadget_transfer", {}))
    assert (3, Because.ARGUMENT_DROPS) == assess(PolicyCall("", "query", {"q": "drop table x"}))


def test_names_are_split_at_cases_and_marks() -> None:
    """Snake, kebab and camel case give the same words."""
    assert ("get", "http", "page") == tokens("getHTTPPage") == tokens("get-http_page")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        " /etc/hosts",
        "//etc/hosts",
        "/tmp/../etc/hosts",
        "c:/windows/x",
        "x/../c:/windows/x",
        "x//../c:/windows/x",
    ],
)
def test_a_file_of_the_system_is_critical_however_it_is_written(path: str) -> None:
    """Blanks before it, dots and doubled separators lead to the same file."""
    assert "critical" == RISKS[assess(PolicyCall("office", "save_document", {"target": path}))[0]]


@pytest.mark.parametrize(
    "line",
    [
        "pkill sayso", "killall -9 sayso", "kill $(pidof sayso)", "kill -9 `pgrep -f 'sayso run'`",
        "bash -c 'pkill sayso'",
        "pgrep sayso | xargs kill", "systemctl stop sayso", "sudo systemctl disable --now sayso.service",
        "service sayso stop", "docker stop sayso", "docker rm -f sayso", "cd x && docker compose stop sayso",
        "kubectl delete pod sayso-0", "kubectl scale deploy/sayso --replicas=0", "kill -9 -1",
    ],
)  # fmt: skip
def test_a_command_that_stops_this_service_is_critical(line: str) -> None:
    """After it nobody could answer a request."""
    assert (3, Because.ARGUMENT_STOPS) == assess(PolicyCall("", "bash", {"command": line}))


@pytest.mark.parametrize(
    "line",
    [
        "pkill node",
        "kill -1 1234",
        "systemctl stop nginx",
        "systemctl status sayso",
        "docker logs sayso",
        "grep kill sayso.md",
    ],
)
def test_a_command_that_stops_something_else_or_looks_at_this_service_is_not_critical(line: str) -> None:
    """Only an end of the service, or of every process, can't be answered by people any more."""
    assert 3 > assess(PolicyCall("", "bash", {"command": line}))[0]
