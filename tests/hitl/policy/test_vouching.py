"""What the shipped presets let a command do: never more than the tools that read and write files."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.policies.surroundings import RealPaths
from hitl.policy import Policy, PolicyCall, load, presets
from hitl.policy.tables import known

POLICIES = {name: load(presets()[name], name=name) for name in ("default", "dev")}
CLOSED = (
    ".env",
    "./service/.env.production",
    "certs/server.pem",
    "../.aws/credentials",
    "/home/me/.ssh/id_ed25519",
    "/etc/shadow",
    "/proc/self/environ",
    "infra/main.tfstate",
    ".git/config",
    "keys/deploy_key",
)
OUTSIDE = ("/etc/hosts", "../notes.txt", "/var/log/syslog", "/srv/other/a.txt")


def action(command: str | list[str], preset: str = "default", more: dict[str, object] | None = None) -> str:
    """What a preset says of a command, by its text alone."""
    args = {"command": command, **(more or {})}
    return POLICIES[preset].judge(PolicyCall("", "Bash", args, cwd="/srv/app")).action


def readers() -> list[str]:
    """For each program that reads the files named by its operands: its words up to the first of them."""
    found = []
    for program in known.programs().values():
        form = next((form for form in program.operands if "path" in form.kinds and not form.given), None)
        if (
            form is None
            or form.kinds[-1] != "path"
            or program.path[0] == "git"
            or program.does not in ("read", "query")
        ):
            continue
        needs = sorted(program.needs)[:1]
        before = ["x"] * form.kinds.index("path")
        found.append(" ".join((*program.path, *needs, *before)))
    return found


@pytest.mark.parametrize("program", readers())
@pytest.mark.parametrize("preset", ["default", "dev"])
def test_a_program_reads_no_file_that_read_file_may_not(program: str, preset: str) -> None:
    """Each operand is judged as `read_file` is: a closed file, or one outside the working folder, never passes."""
    for path in (*CLOSED, *OUTSIDE):
        assert action(f"{program} {path}", preset) != "allow"
        assert action(f"{program} README.md {path}", preset) != "allow"
        assert action([*program.split(), path], preset) != "allow"


@pytest.mark.parametrize(
    "spelled",
    [
        'cat .e""nv', "cat '.'env", "cat .e\\nv", "cat $'.\\x65nv'", "cat .en?", "cat .e*", "cat *", "cat ????",
        "cat .[e]nv",
        "cat < .env", "f=.env; cat $f", 'f=.env; cat "$f"', "cd . && cat .env", "cd service; cat ../.env",
        "for f in a .env; do cat $f; done", 'for f in .e*; do cat "$f"; done', "echo .env | xargs cat",
        "bash -c 'cat .env'", 'bash -lc "cat .env"', "timeout 5 cat .env", "find . -name '.env' -exec cat {} +",
        "grep -r KEY .", "grep KEY -f .env README.md", "rg KEY", "sed -n p .env", "awk 1 .env", "jq . .env",
        "awk 'BEGIN{while((getline l < \".env\")>0) print l}'", "jq -n env", "sort --files0-from=.env",
        "git show HEAD:.env", "git log -p -- .env", "git diff -- ':(glob).e*'", "git show HEAD", "git log -p",
        "tail -n5 $HOME/.ssh/config", "cat ~/.ssh/config", "cat -- .env", "cat `echo .env`", 'cat "$(echo .env)"',
        "while read l; do echo $l; done < .env", "env", "printenv", "echo $API_TOKEN", "false && X=1; echo $X",
    ],
)  # fmt: skip
@pytest.mark.parametrize("preset", ["default", "dev"])
def test_no_spelling_of_a_closed_file_passes(spelled: str, preset: str) -> None:
    """Quotes, patterns, variables, folders, wrappers and scripts hide no path; what can't be told asks."""
    assert action(spelled, preset) != "allow"


@pytest.mark.parametrize(
    "line",
    [
        "echo x > .git/hooks/post-checkout", "echo x >> .git/config", "cat a > .claude/settings.json", "cp a .mcp.json",
        "mv a .vscode/tasks.json", "tee sayso.toml < a", "touch .bashrc", "ln -s a .git/hooks/pre-commit",
        "sed -i s/a/b/ .github/workflows/ci.yml", "mkdir -p .git/hooks", "cp -r evil .git", "echo x > ../out",
        "echo x > /etc/cron.d/job", "cd .git && touch config", "cp hooks/x $HOME/.profile", "install a policy.yaml",
        "git log --output=.git/hooks/pre-push", "sort -o Makefile a", "find . -fprintf run.sh x", "tee > policy.yaml",
    ],
)  # fmt: skip
def test_no_command_writes_what_write_file_would_ask_about(line: str) -> None:
    """A developer's preset lets commands write in the working folder, but no file that runs later or steers a gate."""
    assert action(line, "dev") != "allow"


@pytest.mark.parametrize(
    "line",
    [
        "cat README.md", "head -n 20 src/main.py", "grep -n TODO src/a.py", "ls -la src", "wc -l < notes.txt",
        "cd src && ls -la && cd ..", "git status --short", "git log --oneline -5", "git branch -a", "git diff --stat",
        "find . -type d -name build -prune -o -name '*.json' -print", "which python3", "ls dist 2>/dev/null || echo",
        "sed -n '3,9p' src/a.py", "cat src/*.py | head", 'for f in src/*.py; do wc -l "$f"; done',
        "bash -lc 'ls -la && git status'", "timeout 5 ls", "LC_ALL=C sort names.txt", 'echo "a $HOME b"',
        "git show HEAD:src/a.py", "git diff -- src/a.py", "test -f Makefile && cat Makefile", "ls | xargs -n1 echo",
        "awk '{print $2}' data.txt", "jq -r '.a[]' package.json", "tar tzf a.tar.gz | head", "date +%s",
    ],
)  # fmt: skip
@pytest.mark.parametrize("preset", ["default", "dev"])
def test_everyday_lines_pass(line: str, preset: str) -> None:
    """Lines that only look, at files that `read_file` may read, are not asked about."""
    assert "allow" == action(line, preset)


PASSING = ["cat a.txt", "ls -la", "git status", "head -3 a", "grep x a.txt", "wc -l a", "git log -3"]


@given(line=st.sampled_from(PASSING), option=st.from_regex(r"--[a-z]{3,12}-zz(=x)?", fullmatch=True))
@settings(max_examples=200, deadline=None)
def test_an_unknown_option_never_passes(line: str, option: str) -> None:
    """A program is allowed only with options that its table knows."""
    program, *rest = line.split()
    words = [program, *rest[:1], option] if program == "git" else [program, option, *rest]

    assert action(" ".join(words)) != "allow"


@given(
    line=st.sampled_from(PASSING),
    name=st.sampled_from(["env", "shell", "stdin", "sudo", "user", "sandbox_permissions", "paths", "x", "args"]),
    value=st.sampled_from(["x", True, 1, {"A": "b"}, ["a"]]),
)
@settings(max_examples=100, deadline=None)
def test_an_argument_that_nobody_looked_at_never_passes(line: str, name: str, value: object) -> None:
    """An allow rule vouches only for the arguments that it looked at, or that the tool's definition calls harmless."""
    assert action(line, more={name: value}) != "allow"
    assert "allow" == action(line, more={"description": "why", "timeout": 5, "run_in_background": False})


@pytest.mark.parametrize(("folder", "expected"), [("/srv/app", "allow"), ("src", "allow"), ("/tmp/evil", "approve")])
def test_a_command_is_judged_in_the_folder_that_it_is_given(folder: str, expected: str) -> None:
    """A working folder inside the call's own counts; one outside it asks."""
    call = PolicyCall("", "exec_command", {"cmd": "ls", "workdir": folder}, cwd="/srv/app")

    assert expected == POLICIES["default"].judge(call).action


def test_a_command_is_known_by_its_exact_name() -> None:
    """A blank, another case, a folder or a look-alike makes another program."""
    for words in (["ls ", "-la"], ["LS"], ["./ls"], ["/tmp/ls"], ["ｌｓ"], ["ls\n"]):
        assert action(words) != "allow"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder with a file, and a git repository."""
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("x = 1\n")
    return folder


def here(work: Path, command: str) -> str:
    """What the default preset says of a command, looking at the folder as it is now."""
    policy: Policy = POLICIES["default"].with_ports(RealPaths())
    return policy.judge(PolicyCall("", "Bash", {"command": command}, cwd=str(work))).action


@pytest.mark.parametrize("command", ["grep -rn x .", "rg --hidden x", "find . -type f -exec cat {} +", "cat src/*"])
def test_a_tree_is_read_only_if_it_holds_no_closed_file(work: Path, command: str) -> None:
    """A reader of a whole folder passes as long as nothing in it is closed to `read_file`."""
    before = here(work, command)
    (work / "src" / ".env").write_text("A=b\n")
    (work / "src" / "server.pem").write_text("key\n")

    assert ("allow", "approve") == (before, here(work, command))


@pytest.mark.parametrize(
    ("op", "value"), [("glob", "**/plans/**"), ("matches", "/plans/"), ("path_matches", "/plans/")]
)
def test_a_rule_of_ones_own_closes_files_in_a_tree(work: Path, op: str, value: str) -> None:
    """However the rule tests the path: a reader of the whole folder must not read what `read_file` is denied."""
    rule = {"kind": "read", "action": "deny", "when": [{"key": "path", "op": op, "value": value}]}
    document = json.dumps({"version": 1, "preset": "default", "rules": [rule]})
    policy = load(document, name="own").with_ports(RealPaths())
    (work / "src" / "plans").mkdir()
    (work / "src" / "plans" / "a.txt").write_text("x\n")
    verdicts = {
        folder: policy.judge(PolicyCall("", "Bash", {"command": f"grep -rn x {folder}"}, cwd=str(work))).action
        for folder in ("src", "src/a.py")
    }

    assert {"src": "approve", "src/a.py": "allow"} == verdicts


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("search", {"query": "x", "path": "src"}),
        ("search", {"pattern": "x"}),
        ("search", {"query": "x", "directory": "."}),
        ("search_files", {"path": ".", "regex": "x"}),
        ("search_files", {"regex": "x"}),
        ("search_files", {"folder": "src", "query": "x"}),
        ("grep", {"pattern": "x", "path": "src"}),
        ("Grep", {"pattern": "x", "path": ["src"]}),
        ("codebase_search", {"query": "x", "target_directories": ["src"]}),
        ("read_many_files", {"paths": ["src"]}),
    ],
)
@pytest.mark.parametrize("secret", [".env", "tokens.json", "server.pem~"])
def test_a_search_tool_reads_a_tree_only_if_it_holds_no_closed_file(
    work: Path, tool: str, args: dict[str, Any], secret: str
) -> None:
    """A search tool with folders or a pattern is judged as `grep -r`: nothing below the folders may be closed.

    So the policy asks where it can't look at the folders.
    """
    policy: Policy = POLICIES["default"].with_ports(RealPaths())
    before = policy.judge(PolicyCall("", tool, args, cwd=str(work))).action
    (work / "src" / secret).write_text("A=b\n")

    assert ("allow", "approve") == (before, policy.judge(PolicyCall("", tool, args, cwd=str(work))).action)
    assert "approve" == policy.elsewhere().judge(PolicyCall("", tool, args, cwd=str(work))).action
    assert "allow" == policy.judge(PolicyCall("", "search", {"query": "x"}, cwd=str(work))).action


@pytest.mark.parametrize("command", ["git log --pretty=mine", "git show --format=onel -s", "git log --pretty=format"])
def test_a_format_from_the_configuration_of_git_needs_a_person(command: str) -> None:
    """A name that isn't one of git's own formats may stand for a format that runs gpg."""
    assert action(command) == "approve"
    assert action("git log --pretty=fuller -3") == action("git log --format=format:%h -3") == "allow"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--include='*.py'", "allow"),
        ("--include '*.py' --include='*.md'", "allow"),
        ("--include='*.py' --include='.*'", "approve"),
        ("--include='.*' --include='*.py'", "approve"),
        ("--exclude=x --include='*.py'", "approve"),
        ("", "approve"),
    ],
)
def test_a_search_is_held_to_the_names_that_it_includes(work: Path, options: str, expected: str) -> None:
    """Every `--include` counts; behind `--exclude`, grep searches what neither names."""
    (work / "src" / ".env").write_text("A=b\n")

    assert expected == here(work, f"grep -rn {options} x src")


@pytest.mark.parametrize(
    "command",
    [
        "find . -exec cat {} + -name '*.md'",
        "find . -type f -exec head -1 {} \\; -name '*.md'",
        "find . -print0 -name '*.md' | xargs -0 cat",
        "find . -print -name '*.md' -exec cat {} +",
    ],
)
def test_a_name_behind_an_action_narrows_nothing(work: Path, command: str) -> None:
    """`find` tests in order: an action gets each file that the tests before it let through."""
    (work / ".env").write_text("x")
    assert here(work, command) == "approve"
    assert here(work, "find . -name '*.md' -exec cat {} +") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.pem' -print0 | xargs -0 cat",
        "find . -name '.en?' -exec cat {} +",
        "find . -name 'credential*.json' -exec cat {} +",
        "cat .en?",
        "cat .e*",
        "cat .[e]nv",
        "head -5 *nv",
        "grep -r x --include='*.key' .",
    ],
)
def test_a_pattern_of_a_closed_file_that_is_not_there_yet_asks(work: Path, command: str) -> None:
    """A file may appear between the judgement and the run, so a pattern that fits nothing but closed names asks."""
    assert here(work, command) != "allow"


def test_a_link_out_of_the_folder_is_not_read_as_a_file_in_it(work: Path) -> None:
    """A path is judged where it leads."""
    (work / "src" / "link").symlink_to("/etc/hosts")

    assert here(work, "cat src/link") != "allow"


@pytest.mark.parametrize(
    "command", ["sort *", "sort * -- a.py", "git log --oneline *", "git blame ?*", "git status [-a]*"]
)
def test_a_file_named_like_an_option_is_no_file(work: Path, command: str) -> None:
    """A pattern whose names could be taken for options of the program asks."""
    before = here(work / "src", command)
    (work / "src" / "--output=list").touch()

    assert ("allow", "approve") == (before, here(work / "src", command))


@pytest.mark.parametrize("command", ["sort -- *", "sort ./*", "git log --oneline -- *", "git log --oneline ./*"])
def test_a_pattern_behind_the_end_of_options_passes(work: Path, command: str) -> None:
    """Behind `--`, or with a folder in front, no name is taken for an option."""
    (work / "src" / "--output=list").touch()

    assert "allow" == here(work / "src", command)


@pytest.mark.parametrize(
    "line",
    [
        "uniq docs/*.md", "uniq ?", "uniq -c -- *.md", "xxd docs/*.md", "xxd -l 8 [ab].md",
        "find docs -name '*.md' -exec xxd {} +", "find docs -print0 | xargs -0 -n2 xxd",
        "find docs -print0 | xargs -0 uniq -c", 'for f in *.md; do uniq "$f"; done', "grep [.]* a.md", "grep .* a.md",
    ],
)  # fmt: skip
@pytest.mark.parametrize("preset", ["default", "dev"])
def test_more_words_than_one_have_the_meaning_of_their_places(line: str, preset: str) -> None:
    """A pattern, or the names that are found, may come to several operands, of which a later one is written or read."""
    assert action(line, preset) != "allow"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_an_armed_repository_makes_git_ask(work: Path) -> None:
    """Where git's own configuration names a program, even `git status` is a matter for a person."""
    subprocess.run(["git", "init", "-q", str(work)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
    before = here(work, "git status")
    subprocess.run(["git", "-C", str(work), "config", "core.fsmonitor", "./evil"], check=True)

    assert ("allow", "approve") == (before, here(work, "git status"))


@pytest.mark.parametrize(
    "line",
    [
        "git log -p --full-diff -- a.py", "git show --full-diff HEAD -- docs/b.md", "git log --patch --follow -- a.py",
        "git show HEAD HEAD:docs/b.md", "git show HEAD~2 HEAD~3:a.py HEAD:a.py", "git log -p -2 -- docs",
        "git show HEAD~1 -- docs", "git diff HEAD~3 -- docs", "git diff --cached -- docs", "git diff main -- lib docs",
        "git grep -n PASSWORD HEAD~4 -- docs", "git grep x HEAD:docs", "git whatchanged -p -- lib",
        "git show HEAD -- '*'",
        "git diff HEAD:docs HEAD~1:docs", "git log -L 1,3:.env -- a.py", "git show :0:credentials.json",
        "git log -U1 -- Makefile a.py", "git diff-files -p -- docs", "git diff --submodule=diff",
        "git show --all HEAD:a.py", "git log -p --branches HEAD:a.py",
    ],
)  # fmt: skip
@pytest.mark.parametrize("preset", ["default", "dev"])
def test_what_may_show_a_secret_of_the_past_asks(line: str, preset: str) -> None:
    """Git shows former content only of files that are named one by one: a folder may have held a secret once."""
    assert action(line, preset) != "allow"


@pytest.mark.parametrize(
    "line",
    [
        "git log -p -3 -- docs/b.md", "git show HEAD -- a.py docs/b.md", "git diff HEAD~2 -- a.py",
        "git diff main a.py",
        "git show HEAD:a.py HEAD~1:a.py", "git log --stat -- docs", "git diff --name-only HEAD~1 -- docs",
        "git grep -n x HEAD -- a.py", "git show HEAD~1:docs/b.md",
    ],
)  # fmt: skip
def test_former_content_of_named_files_passes(work: Path, line: str) -> None:
    """Files that are there and may be read may be shown as they were; names and numbers of any folder, too."""
    (work / "docs").mkdir()
    (work / "docs" / "b.md").touch()
    (work / "a.py").touch()

    assert "allow" == here(work, line)


@pytest.mark.parametrize("line", ["git log -p -- conf.d", "git log -p feature.x", "git diff HEAD -- conf.d"])
def test_a_folder_or_branch_with_a_files_name_asks(work: Path, line: str) -> None:
    """A name with an ending may still be a folder, or a branch, of which git would show everything."""
    (work / "conf.d").mkdir()

    assert "approve" == here(work, line)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_secret_that_git_still_tracks_makes_a_difference_ask(work: Path) -> None:
    """A file that was deleted but is still in the index would be shown as removed, line by line."""
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", "init", "-q", str(work)], check=True, env=quiet)
    before = here(work, "git diff")
    (work / ".env").write_text("A=b\n")
    subprocess.run(["git", "-C", str(work), "add", ".env"], check=True, env=quiet)
    (work / ".env").unlink()

    assert ("allow", "approve") == (before, here(work, "git diff"))
    assert "approve" == here(work, "git diff -- src")


@pytest.mark.parametrize("command", ["cp kit/.mcp.json .", "cp -r kit/. .", "cp kit/* kit/.* .", "mv kit new"])
def test_a_protected_name_is_not_copied_to_where_it_counts(work: Path, command: str) -> None:
    """A file keeps its name when it is copied or moved, and with it what rules say of it."""
    dev = POLICIES["dev"].with_ports(RealPaths())
    (work / "kit").mkdir()
    (work / "kit" / "a.txt").touch()
    plain = dev.judge(PolicyCall("", "Bash", {"command": "cp -r kit/. ."}, cwd=str(work))).action
    (work / "kit" / ".mcp.json").write_text("{}")

    assert ("allow", "approve") == (
        plain,
        dev.judge(PolicyCall("", "Bash", {"command": command}, cwd=str(work))).action,
    )


def test_the_way_from_a_log_to_any_command_is_closed() -> None:
    """Writing git's configuration with a log's output, and then asking git for the status, is asked about at once."""
    line = 'git log -1 --format="[core] fsmonitor = ./x" --output=.git/config'

    assert {"approve", "deny"} >= {action(line), action(line, "dev")}


@pytest.mark.parametrize(
    "path",
    [
        "src/__pycache__/main.cpython-311.pyc", "gradlew", "gradle/wrapper/gradle-wrapper.properties", ".tox/bin/x",
        ".yarn/releases/yarn.cjs", ".bundle/config", "vendor/bin/tool", ".tekton/build.yaml", ".lintstagedrc.js",
        ".terraform/providers/x", ".ghci", ".rspec",
    ],
)  # fmt: skip
def test_what_runs_before_or_in_place_of_what_people_read_is_protected(path: str) -> None:
    """`dev` asks before it writes compiled code, wrappers of build tools, and what interpreters and CI systems load."""
    assert "approve" == POLICIES["dev"].judge(PolicyCall("", "write_file", {"path": path}, cwd="/srv/app")).action


@pytest.mark.parametrize("line", ["LC_ALL=C.UTF-8 sort a.csv", "TZ=Europe/Vienna date", "LANG=en_GB.UTF-8 ls"])
def test_a_language_or_zone_passes(line: str) -> None:
    """Such a value changes only how a command writes."""
    assert "allow" == action(line)


@pytest.mark.parametrize("line", ["LANGUAGE=../../x ls", "LANG=/tmp/x ls", "TZ=:/etc/x date", "LANGUAGE=en:/tmp/x ls"])
def test_a_path_as_language_or_zone_asks(line: str) -> None:
    """A C library would read the file that it names."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "command", ["find src -name zzz -print0 | xargs -0 grep -r .", "find src -name zzz | xargs rg -uu x"]
)
def test_a_reader_of_trees_that_may_get_no_name_reads_the_working_folder(work: Path, command: str) -> None:
    """Without input xargs runs the command once, without names."""
    (work / ".env").write_text("x")

    assert ("approve", "allow") == (here(work, command), here(work, command.replace("xargs", "xargs -r")))


@pytest.mark.parametrize("command", ["find . -name src -exec grep -r x {} +", "find . -name src | xargs -r grep -r x"])
def test_a_name_that_find_gives_may_be_a_folder(work: Path, command: str) -> None:
    """A reader of trees reads every file in such a folder, whatever the pattern says of names."""
    (work / "src" / "server.pem").write_text("key")

    assert "approve" == here(work, command)


def test_names_one_a_line_are_names_only_without_blanks_and_quotes(work: Path) -> None:
    """Without -0, xargs would read `a .env` as two names."""
    command = "find . -name '*.md' | xargs wc -l"
    (work / "a.md").write_text("x")
    before = here(work, command)
    (work / "b .env.md").write_text("x")

    assert ("allow", "approve", "allow") == (
        before,
        here(work, command),
        here(work, "find . -name '*.md' -print0 | xargs -0 wc"),
    )


@pytest.mark.parametrize(
    "line",
    [
        "jq --arg k a '.[$k]' data.json", "jq -n --argjson n 3 '$n + 1'", "sed 'y/abc/xyz/' a.md",
        "sed -n '5{p;q}' a.md",
        "sed '2i\\hello' a.md", "set -euo pipefail; ls | head", "set -e; ls", "GIT_PAGER=cat git log -3",
        "PAGER=cat git diff --stat", "echo $((1 + 2 * 3))", "ulimit -n",
    ],
)  # fmt: skip
def test_everyday_lines_that_only_read_pass(line: str) -> None:
    """A variable of jq, a character map of sed, a strict shell, `cat` as a pager and sums of numbers change nothing."""
    assert "allow" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "jq -n --arg a b --rawfile x .env '$x'", "jq --arg a . .env",
        "jq -R . -- --arg a ../b.md", "jq -R . a.md -- --argjson a .env",
        "jq --arg $x . a.json", "sed '1{w x\n}' a.md",
        "sed 'y/ab/cd/;w x' a.md", "sed '1i foo\nw x' a.md", "sed '{{w x' a.md", "set -a; ls", "set", "set -- rm; $1",
        "set -e; rm x", "PAGER='cat .env' git log", "GIT_PAGER=./x git log", "echo $((x))", "echo $((a[$(id)]))",
        "echo $((16#$x))", "echo $((1 + $(id)))",
    ],
)  # fmt: skip
def test_what_looks_like_an_everyday_line_and_does_more_asks(line: str) -> None:
    """A file, a variable, a substitution or another program beside them asks."""
    assert "allow" != action(line)


@pytest.mark.parametrize("option", ["-u", "-uu", "-uuu", "--hidden", "-.", "--unrestricted -u"])
def test_a_search_of_hidden_files_is_one_in_every_spelling(work: Path, option: str) -> None:
    """Ripgrep leaves hidden files out, unless it is told otherwise."""
    before = here(work, f"rg {option} x")
    (work / ".env").write_text("x")

    assert ("allow", "approve", "allow") == (before, here(work, f"rg {option} x"), here(work, "rg x"))


@pytest.mark.parametrize(
    "option",
    ["-g '*'", "-g '.e*'", "--glob='[.]env'", "--iglob '*NV'", "-g '*.{md,env}'", "-g '!a' -g '*v'", "-t sh", "-tall"],
)
def test_a_search_that_names_hidden_files_reads_them(work: Path, option: str) -> None:
    """A glob or a type of ripgrep takes hidden files in, unless no hidden file can have such a name."""
    before = here(work, f"rg {option} x")
    (work / ".env").write_text("x")

    assert ("allow", "approve") == (before, here(work, f"rg {option} x"))
    assert "allow" == here(work, "rg -g '*.{ts,tsx}' -g '!.env.*' -tpy x")


@pytest.mark.parametrize("option", ["--type-add 'py:*v' -tpy", "--type-add 'own:*v' -t own", "--type-clear py -tpy"])
def test_a_type_of_ones_own_may_be_any_file(work: Path, option: str) -> None:
    """What the names of a type are can't be told once the line changes them."""
    (work / ".env").write_text("x")

    assert "approve" == here(work, f"rg {option} x")


@pytest.mark.parametrize(
    "file", [".gitignore", ".ignore", ".rgignore", "src/.ignore", "../.ignore", ".git/info/exclude"]
)
def test_a_search_reads_hidden_files_that_an_ignore_file_takes_in(work: Path, file: str) -> None:
    """A line with `!` makes ripgrep read a hidden file. The names of other hidden files don't matter."""
    (work / "src" / ".env").write_text("x")
    (work / file).parent.mkdir(parents=True, exist_ok=True)
    (work / file).write_text("dist\n!.env.example\n!/.yarn/releases\n")
    before = here(work, "rg x")
    (work / file).write_text("!.[e]nv\n")

    assert ("allow", "approve") == (before, here(work, "rg x"))


def test_a_search_asks_if_an_ignore_file_can_not_be_read(work: Path) -> None:
    """A pipe may say anything to the search."""
    os.mkfifo(work / ".rgignore")

    assert "approve" == here(work, "rg x")


@pytest.mark.parametrize(
    "pattern",
    [".[[:alpha:]]nv", "\\.env", ".\\env", ".[^x]nv", ".[!x]nv", ".en[[=v=]]", ".en[]v]", ".en[v-v]", "*[t-v]"],
)
@pytest.mark.parametrize(
    "command", ["find . -name '{}' -exec cat {{}} +", "grep -r x . --include='{}'", "cat {}", "wc -l ./{}"]
)
def test_a_bracket_that_programs_read_differently_may_match_any_name(work: Path, command: str, pattern: str) -> None:
    """Named classes, negated classes and escapes match a closed file, although Python's own patterns don't say so."""
    (work / ".env").write_text("x")
    (work / ".xnv").write_text("x")

    assert "allow" != here(work, command.format(pattern))


@pytest.mark.parametrize("command", ["find . -name '*\\.py' -exec wc -l {} +", "cat src/*.[p]y", "wc -l src/[a-c].py"])
def test_a_plain_class_and_an_escape_name_what_they_say(work: Path, command: str) -> None:
    """A secret beside the files that a pattern matches doesn't make it ask."""
    (work / ".env").write_text("x")

    assert "allow" == here(work, command)


@pytest.mark.parametrize(
    "line",
    [
        "x='a -oout'; sort \"$=x\"", "x='.e*'; cat \"$~x\"", 'x=a; cat "$^x"', "read x < a.md; printf '%d' \"$x\"",
        "read x < a.md; printf '%s%5.1f' a \"$x\"", "read x < a.md; printf '%*s' \"$x\" a", "printf '%d' 'path[`id`]'",
        "x='path[1]'; printf '%d' x", "read x < a.md; printf '%s %i' \"$x\" \"$x\"", "printf '%s %d' $(ls) 1",
    ],
)  # fmt: skip
def test_what_zsh_alone_reads_as_an_expansion_or_computes_asks(line: str) -> None:
    """In zsh `$=x` splits a value, `$~x` is a pattern, and the subscript in a number of printf may run a command."""
    assert "allow" != action(line)


@pytest.mark.parametrize(
    "line",
    [
        "ls -RL",
        "ls -R -L .",
        "ls -lRL src",
        "ls --recursive --dereference",
        "du -L .",
        "du -sL",
        "du --dereference src",
    ],
)
def test_an_option_that_follows_links_below_a_folder_asks(work: Path, line: str) -> None:
    """A link below the folder may lead out of the workspace, so a program that follows such links asks."""
    (work / "out").symlink_to("/etc")

    assert "allow" != here(work, line)


@pytest.mark.parametrize(
    "line",
    [
        "cat =deploy", "zsh -c 'cat =deploy'", "head -n 1 ='deploy'", 'wc -c ="deploy"', "x=deploy; cat =$x",
        "x==deploy; cat $x", "sort < =deploy", "for f in =deploy; do cat $f; done",
    ],
)  # fmt: skip
def test_a_word_that_zsh_replaces_by_the_path_of_a_command_asks(line: str) -> None:
    """In zsh, an unquoted `=` before a name becomes the path of that command, which lies outside of the workspace."""
    assert "allow" != action(line)


@pytest.mark.parametrize(
    "line",
    [
        "echo === a.md ===", "[ a = b ] || cat b.md", "[[ a == b ]] || cat b.md", "cat '=deploy'", 'cat "=deploy"',
        "cat \\=deploy", "x=3; echo $x=4", "sort --key=2 b.md", 'awk -F= "{print}" b.md',
    ],
)  # fmt: skip
def test_an_equals_sign_that_no_shell_replaces_passes(line: str) -> None:
    """A quoted sign, several signs, a sign inside a word and an operator stay what they are in every shell."""
    assert "allow" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "grep 'a$' b.md",
        'grep "a$" b.md',
        'grep -E "a$|(b$)" c.md',
        "printf '%-9s %5d%%\\n' a 42",
        "printf '%s' \"$PWD\"",
    ],
)
def test_a_dollar_at_the_end_of_a_text_and_written_numbers_pass(line: str) -> None:
    """All shells read them alike."""
    assert "allow" == action(line)


@pytest.mark.parametrize("line", ["docker compose ps", "docker compose logs web", "docker compose images"])
def test_compose_may_fetch_what_its_file_includes(line: str) -> None:
    """An `include` of a compose file may name a repository or a registry. Other questions load no such file."""
    assert ("approve", "allow") == (action(line), action("docker compose ls"))


def committed(work: Path) -> None:
    """Make the folder a repository that tracks its files."""
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=work, check=True, capture_output=True)


@pytest.mark.parametrize("command", ["git diff", "git grep -n x", "git grep x -- 'src/*'", "git diff -- src"])
def test_git_shows_the_files_that_it_tracks(work: Path, command: str) -> None:
    """A secret that git doesn't track isn't shown. Once git tracks it, the command asks."""
    committed(work)
    (work / "src" / ".env").write_text("x")
    before = here(work, command)
    subprocess.run(["git", "add", "-f", "src/.env"], cwd=work, check=True)

    assert ("allow", "approve") == (before, here(work, command))


@pytest.mark.parametrize("command", ["git diff", "git grep x"])
def test_git_may_show_every_file_without_a_repository_and_in_a_submodule(work: Path, command: str) -> None:
    """There git compares and searches files that no list of this repository names."""
    (work / "src" / ".env").write_text("x")
    outside = here(work, command)
    (work / "src" / ".env").unlink()
    committed(work)
    before = here(work, command)
    link = ["update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub"]
    subprocess.run(["git", *link], cwd=work, check=True)
    (work / "sub").mkdir()
    (work / "sub" / ".env").write_text("x")

    assert ("approve", "allow", "approve") == (outside, before, here(work, command))


@pytest.mark.parametrize("option", ["--untracked", "--no-exclude-standard --untracked"])
def test_a_search_of_untracked_files_reads_all_files(work: Path, option: str) -> None:
    """With this option, git grep also reads files that git doesn't track."""
    committed(work)
    (work / ".env").write_text("x")

    assert ("allow", "approve") == (here(work, "git grep x"), here(work, f"git grep {option} x"))


@pytest.mark.parametrize(
    "command",
    [
        "git ls-files '*.py' | xargs wc -l", "git ls-files src | grep -v test | sort -u | head -5 | xargs cat",
        "rg -l x src | xargs head -3", "rg --files src | xargs wc -l", "grep -rl x src | xargs -r wc -l",
        "find src -name '*.py' | sort | xargs wc -l",
    ],
)  # fmt: skip
def test_names_that_a_command_prints_are_judged_as_files(work: Path, command: str) -> None:
    """The names come from a known folder. A name that looks like an option, or that a shell would change, asks."""
    committed(work)
    before = here(work, command)
    (work / "src" / "server.pem.py").write_text("x")
    plain = here(work, command)
    for name in () if command.startswith("find") else ("-oout.py", "a b.py", "\u00e4.py"):
        odd = [folder / name for folder in (work, work / "src")]
        for file in odd:
            file.write_text("x")

        assert "approve" == here(work, command)
        for file in odd:
            file.unlink()

    assert ("allow", "allow") == (before, plain)


@pytest.mark.parametrize(
    "command", ["git ls-files src | xargs cat", "rg --files src | xargs cat", "rg -l x src | xargs cat"]
)
def test_a_closed_file_among_the_printed_names_asks(work: Path, command: str) -> None:
    """The reader would get its name."""
    committed(work)
    (work / "src" / "server.pem").write_text("x")

    assert "allow" != here(work, command)


@pytest.mark.parametrize(
    "command",
    [
        "git ls-files -s | xargs cat", "git ls-files -z | xargs cat", "git ls-files --format=/etc/x | xargs cat",
        "git -C src ls-files | xargs cat", "git ls-files | cut -c2- | xargs cat",
        "git ls-files | grep -o a | xargs cat", "git ls-files | head -c 3 | xargs cat",
        "git ls-files | sort a.md | xargs cat", "rg -n x | xargs cat",
        "rg -l x --json | xargs cat", "rg -l x -r /etc/x | xargs cat", "rg -l --hidden x | xargs cat",
        "echo x | rg -l x | xargs cat", "git ls-files 2>&1 | xargs cat", "git ls-files |& xargs cat",
        "git ls-files | xargs -0 cat", "git ls-files | xargs rm", "git ls-files | xargs sort -o",
    ],
)  # fmt: skip
def test_an_output_that_may_be_no_list_of_names_asks(work: Path, command: str) -> None:
    """An option or a filter may change the lines, and a name must never be written."""
    committed(work)

    assert "allow" != here(work, command)


@pytest.mark.parametrize(
    "line",
    [
        "diff <(sort a.md) <(sort b.md)", "cat <<E\na b\nE", "x=5; echo $((x * 2))", 'f=a.md; echo "$f: 1"',
        "IFS= read -r l < a.md", "git log \\\n  --oneline \\\n  -3", "ls | xargs -I{} basename {} .md",
        "git rev-parse HEAD^{commit}", "zsh -lc 'git diff --stat'", "git config --get user.email",
        "git config user.name",
    ],
)  # fmt: skip
def test_more_everyday_lines_pass(line: str) -> None:
    """Each of them means the same in every shell, and reads what is written out."""
    assert "allow" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "diff <(cat .env) a.md", "cat <(rm x)", "cat a.md > >(sh)", "cat >(sh)", "bash <(echo x)", "sort -o a <(ls)",
        "cat <<E\n$(rm x)\nE", "cat <<E\n`rm x`\nE", "cat <<E\n\\$x\nE", "x=5; echo $((x = 2))", "x=5; echo $((x++))",
        "x=a; echo $((x))", "x='a[$(id)]'; echo $((x))", "x=5; echo $((a[x]))", 'f=a.md; cat "$f:h"', 'cat "$f[1]"',
        "IFS= ls", "IFS=x read -r l < a.md", "IFS= PATH=. read -r l < a.md", "ls # \\\nrm x", "echo 'a \\\nb'",
        "git log \\\n --output=x", "ls \\\n; rm x", "sed -n $'p\\' \\\nw x' a.md", "cat <<E \\\n\nE", "cat {a,.env}",
        "cat {.env}{,}", "cat {}{a,.env}", "zsh -c 'rm x'", "zsh -ic ls", "git config user.name x", "git config -l",
        "git config remote.origin.url", "git config core.pager",
    ],
)  # fmt: skip
def test_what_looks_like_one_of_them_and_does_more_asks(line: str) -> None:
    """What a shell expands, writes or runs beside them asks."""
    assert "allow" != action(line)


def test_a_pattern_of_folders_matches_no_file(work: Path) -> None:
    """A secret beside the folders isn't read. A folder of secrets asks."""
    (work / ".env").write_text("x")
    before = here(work, "ls -d */")
    (work / "secrets").mkdir()

    assert ("allow", "approve") == (before, here(work, "ls -d */"))


@pytest.mark.parametrize("pipe", ["2>&1 |", "|&"])
def test_what_find_complains_of_names_nothing(work: Path, pipe: str) -> None:
    """An error quotes a folder's name, whose words xargs would take for other files."""
    (work / "a.md").write_text("x")

    assert "allow" == here(work, "find . -name '*.md' 2>/dev/null | xargs wc -l")
    assert "approve" == here(work, f"find . -name '*.md' {pipe} xargs wc -l")


@pytest.mark.parametrize("command", ["cat *.md", "wc -l n*.md", 'for f in *.md; do cat "$f"; done', "cat docs/*/a.md"])
def test_a_pattern_reads_a_link_where_it_leads(work: Path, tmp_path: Path, command: str) -> None:
    """A link in the folder may have any name, so a pattern that fits no closed name may lead to a closed file."""
    (work / "docs" / "sub").mkdir(parents=True)
    (work / "docs" / "sub" / "a.md").write_text("x")
    (work / "notes.md").write_text("x")
    before = here(work, command)
    (work / "now.md").symlink_to(tmp_path / "secret.txt")
    (work / "docs" / "out").symlink_to(tmp_path)

    assert ("allow", "approve") == (before, here(work, command))
