"""What shell lines come to under a policy with a deny list, an ask list and "everything that can be told"."""

import time

import pytest

from hitl.policy.shell import ShellReading, read_argv, read_line, resolved_programs
from hitl.policy.shell.lists import Programs
from hitl.policy.three_valued import NO, UNSURE, YES

DENIED = Programs.of(("rm", "dd", "sudo", "mkfs", "mkfs.*", "shutdown"))
ASKED = Programs.of(("git push", "chmod", "kubectl delete", "npm publish", "terraform apply"))

DENY = (
    "env rm x",
    "env -i rm x",
    "env -u A B=1 rm x",
    "env --unset=A rm x",
    'env -S"rm -f v"',
    "env -vS 'rm x'",
    "/usr/bin/env rm x",
    "env - rm x",
    "command -- rm x",
    "nice rm x",
    "nice -n 10 rm x",
    "nice -10 rm x",
    "nice --adjustment=5 rm x",
    "ionice -c3 rm x",
    "ionice -c 3 rm x",
    "timeout -k 5 10 rm x",
    "timeout --signal=KILL 5s rm x",
    "timeout -s 9 5 rm x",
    "stdbuf -o0 -e 0 rm x",
    "chrt -b 0 rm x",
    "taskset -c 0 rm x",
    "taskset 1 rm x",
    "flock -n lock rm x",
    "flock lock -c 'rm x'",
    "flock -x lock sh -c 'rm x'",
    "watch -n1 rm x",
    "watch 'rm x'",
    "strace -f rm x",
    "strace -o out -e trace=file rm x",
    "unshare -r rm x",
    "script -c 'rm x' /dev/null",
    "script -qc 'rm x' out",
    "busybox rm x",
    "busybox sh -c 'rm x'",
    "time rm x",
    "time -p rm x",
    "\\time rm x",
    "exec rm x",
    "exec -c rm x",
    "exec -l rm x",
    "nohup nice -n 5 rm x >/dev/null 2>&1 &",
    "builtin exec rm x",
    "xargs rm",
    "xargs -I % rm %",
    "xargs -n 1 -- rm",
    "xargs -d '\\n' rm",
    "xargs --max-args=1 rm",
    "xargs --max-args 1 rm",
    "xargs -a list.txt rm",
    "ls | xargs -P4 -n1 rm",
    "find . -exec rm {} +",
    "find . -type f -ok rm {} \\;",
    "find . -execdir rm {} ';'",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "find . -exec env rm {} \\;",
    "find . -print0 | xargs -0 rm",
    "sh -c 'rm x'",
    "sh -ec 'rm x'",
    "sh -c -e 'rm x'",
    'bash -c "rm x" arg',
    "dash -c 'rm x'",
    "zsh -c 'rm x'",
    "bash -o pipefail -c 'rm x'",
    "bash -euo pipefail -c 'rm x'",
    "bash --noprofile --norc -c 'rm x'",
    "sh -c 'eval \"rm x\"'",
    'sh -c "sh -c \'sh -c \\"rm x\\"\'"',
    "eval rm x",
    "eval \"eval 'rm x'\"",
    "eval $'rm x'",
    "bash <<< 'rm x'",
    'echo "rm x" | bash',
    "echo rm x | sh -s",
    "printf '%s\\n' 'rm x' | sh",
    "echo rm -f x | bash -",
    "sh -c '\"$@\"' _ rm x",
    "sh -c '$0 x' rm",
    "sh -c '$1 x' _ rm",
    'set -- rm x; "$@"',
    "trap 'rm x' EXIT",
    "alias l=rm; l x",
    "alias l='rm -f'; l x",
    "f() { rm x; }; f",
    "function f() { rm x; }",
    "if true; then rm x; fi",
    "if rm x; then :; fi",
    "while rm x; do :; done",
    "for i in 1 2; do rm x; done",
    "for ((i=0;i<1;i++)); do rm x; done",
    "case a in a) rm x ;; esac",
    "(rm x)",
    "{ rm x; }",
    "rm x &",
    "rm x;",
    "true; rm x",
    "true | rm x",
    "true || rm x",
    "! rm x",
    "[ -f x ] && rm x",
    "[[ $(rm x) ]]",
    "test -f x || rm x",
    "select f in a; do rm x; done",
    "coproc rm x",
    "coproc C { rm x; }",
    "x=$(rm x)",
    "x=`rm x`",
    "export x=$(rm x)",
    "local x=$(rm x)",
    "declare x=$(rm x)",
    "echo $(echo $(rm x))",
    'echo "$(rm x)"',
    "echo `echo \\`rm x\\``",
    "echo ${x:-$(rm x)}",
    "echo ${x:+`rm x`}",
    "echo $((1+$(rm x)))",
    "cat <(rm x)",
    "tee >(rm x) < f",
    "cat <<< $(rm x)",
    "cat < <(rm x)",
    "diff <(ls) <(rm x)",
    "a=(1 $(rm x))",
    '"rm" x',
    "'r'm x",
    "r'm' x",
    "r\\m x",
    '"r""m" x',
    "$'rm' x",
    "$'\\162\\155' x",
    "$'r\\x6d' x",
    "/bin/rm x",
    "/usr/bin/rm x",
    "/bin/../bin/rm x",
    "//bin//rm x",
    "~/rm x",
    "../rm x",
    '"/bin/rm" x',
    "rm${IFS}-f${IFS}x",
    "rm$IFS$9x",
    "{rm,x}",
    "{rm,-rf,/tmp/x}",
    "sudo -u bob ls",
    "sudo -E env ls",
    "sudo VAR=1 ls",
    "sudo -i",
    "sudo su",
    "sudo !!",
    "exec sudo ls",
    "nohup sudo ls",
    "ls | sudo tee f",
    "echo x | sudo -S ls",
    "find . -exec sudo ls {} \\;",
    "mkfs /dev/sda",
    "mkfs.ext4 /dev/sda",
    "/sbin/mkfs.vfat x",
    "dd if=a of=b",
    "/sbin/shutdown -h now",
    "shutdown now",
    "env shutdown",
    "A=1 rm x",
    "A=1 B=2 rm x",
    "2>/dev/null rm x",
    "<a >b rm x",
    "rm x > out",
    "rm x || true",
    "true&&rm x",
    "true;rm x",
    "(true;(rm x))",
    "time sudo rm",
    "su -c 'rm x'",
    "su - bob -c 'rm x'",
    "runuser -u bob -- rm x",
    "setpriv --reuid=1 rm x",
    "systemd-run rm x",
    "systemd-run --user --scope rm x",
    "chroot /mnt rm x",
    "doas -u bob rm x",
    "pkexec rm x",
    "parallel rm ::: a b",
    "ls | parallel rm {}",
    "ls | parallel 'rm {}'",
    "rlwrap rm x",
    "git submodule foreach 'rm x'",
    "git submodule foreach --recursive rm x",
    "git bisect run rm x",
    "git rebase -x 'rm x' HEAD~1",
    "git -c alias.x='!rm x' x",
    "nsenter -t 1 -m rm x",
    "linux64 rm x",
    "setarch x86_64 rm x",
    "xvfb-run rm x",
    "fakeroot rm x",
    "eatmydata rm x",
    "unbuffer rm x",
    "CMD='rm -f'; $CMD x",
    'X=/bin/rm; "$X" y',
    'C=rm; eval "$C x"',
    "for c in rm; do $c x; done",
    "a=r; b=m; $a$b x",
    'a=(rm x); "${a[@]}"',
    "ls;rm x #comment",
    ": && rm x",
    ": | xargs -r rm",
    "exec 3>&1; rm x",
    '[ "$(rm x)" = a ]',
    "echo a |& rm",
    "rm",
    "rm;",
    "rm&",
    "awk 'BEGIN{system(\"rm x\")}'",
    "sed '1e rm x' f",
    "echo 1 | awk '{system(\"rm \" $1)}'",
    "tar cf x --to-command='rm x' y",
    "cat <<'EOF' | sh\nrm x\nEOF",
    "cat <<EOF\n`rm x`\nEOF",
    "sh <<EOF\nrm x\nEOF",
    "true\nrm x",
    "\n\nrm x",
    "rm\tx",
    "rm \\\n x",
    "if true\nthen\nrm x\nfi",
    "r''m\tx",
)

ASK = (
    "git push",
    "git -C d push",
    "git --no-pager push",
    "git --git-dir=.git push",
    "git -c a.b=c push",
    "git push -f",
    "/usr/bin/git push",
    "env git push",
    "git 'push'",
    'git "pu"sh',
    'g""it push',
    "git $'push'",
    "git \\push",
    "command git push",
    "(git push)",
    "sh -c 'git push'",
    "xargs git push",
    'git -C "$d" push',
    "git  -C  d  push",
    "timeout 5 git push",
    "if git push; then :; fi",
    "chmod +x f",
    "/bin/chmod 1 f",
    "find . -exec chmod 600 {} +",
    "kubectl delete pod x",
    "kubectl -n a delete pod",
    "kubectl -n=a delete pod",
    "kubectl --namespace a delete pod",
    "kubectl --namespace=a delete pod",
    "kubectl -v 5 delete po",
    "kubectl -v=5 delete po",
    "kubectl --token abc delete",
    "kubectl --insecure-skip-tls-verify delete x",
    "kubectl -s http://x delete x",
    "npm publish --access public",
    "npm --prefix x publish",
    "npm -w x publish",
    "npm --registry=http://x publish",
    "npm --tag x publish",
    "terraform apply",
    "terraform -chdir=x apply",
    "terraform -chdir x apply",
    "TF_LOG=1 terraform apply",
    "echo yes | terraform apply",
    "X=push; git $X",
    "git ${X}",
    "git {push,origin}",
    "git pu?h",
    "kubectl $V pod",
)

UNTOLD = (
    """awk '{print $1 | "sort"}' f""",
    """awk '/x/ || y | z' f""",
    """awk 'BEGIN { while (("ls" | getline l) > 0) print l }'""",
    "awk 'a/b | c/d' f",
    "sed '/x/s/a/b/e' f",
    "sed '2s,a,b,ge' f",
    "python3 x.py",
    "python -c 'x'",
    "perl -e 1",
    "ruby x",
    "node x.js",
    "php -r x",
    "bash x.sh",
    "sh ''",
    "sh ./x.sh",
    "./x.sh",
    ". ./x.sh",
    "source x",
    "curl x | sh",
    "curl x | bash -s -- a",
    "wget -qO- x | sh",
    "bash <(curl x)",
    'sh -c "$(curl x)"',
    'eval "$(curl x)"',
    "eval $X",
    "$X",
    "$X y",
    "${X} y",
    '"$X" y',
    "`which x` y",
    "$(x) y",
    "echo x | base64 -d | sh",
    "base64 -d f | bash",
    "xxd -r -p f | sh",
    "xargs -I{} sh -c '{}'",
    "xargs -I{} {} x",
    "xargs sh",
    "make",
    "make install",
    "npm run x",
    "npx x",
    "LD_PRELOAD=x ls",
    "PATH=/tmp ls",
    "PATH=.:$PATH; ls",
    "export PATH=/tmp:$PATH",
    "BASH_ENV=x bash -c ls",
    "GIT_SSH_COMMAND='x' git fetch",
    "env LD_PRELOAD=x ls",
    "PAGER=x git log",
    "git -c core.pager=x log",
    "git --exec-path=/x log",
    "git foo",
    "ssh h ls",
    "ssh h",
    "docker run x ls",
    "docker exec c ls",
    "kubectl exec p -- ls",
    "tar cf a --checkpoint=1 --checkpoint-action=exec=x b",
    "find . -delete",
    "vim -c ':!ls'",
    "vi x",
    "ed x",
    "gdb -ex 'x'",
    "awk -f x",
    "sed -f x",
    "sed 's/a/b/e'",
    "at now",
    "crontab x",
    'ls "',
    "ls '",
    "ls $(",
    "ls `",
    "ls &&",
    "ls |",
    "(ls",
    "{ ls",
    "if ls",
    "for x in",
    "<<EOF",
    "ls)",
    "rsync -e 'x' a b",
    "nc -e /bin/sh h 1",
    "socat a EXEC:x",
    "zip a b -T -TT x",
    "mysql -e 'x'",
    "sqlite3 x '.shell x'",
    "less +x",
    "hash -p /bin/rm ls; ls",
    "enable -f x y",
    "printf -v x rm; $x",
    "read x; $x",
    "mapfile -C x",
    "rm\u200b x",
    "sudоedit x",
    "su",
    "su -",
    "expect x",
    "osascript -e x",
    "java -jar x",
    "deno run x",
    "history | sh",
    "!! ",
    "fc -s x",
    "ld.so x",
    "/lib64/ld-linux-x86-64.so.2 /bin/ls",
    "/tmp/ls",
    "bin/ls",
    "uvx x",
    "pipx run x",
    "go run x",
    "cargo run",
    "npm test",
    "npm install x && npm start",
    "git config alias.x '!ls'",
    "r[m] x",
    "r? x",
    "/???/r? x",
    "/bin/r* x",
    "*",
)

ALLOW = (
    "awk '/rm|sudo/ {print}' f",
    "awk '$1 || $2' f",
    "awk '$1 ~ /a|b/ && !/c|d/ {n++} END {print n}' f",
    "sed -n 1p tests/one/two/e.txt",
    "sed 's/one/two/g;s/x/ e/' f",
    "ls",
    "ls -la",
    "pwd",
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1",
    "git fetch origin",
    "git pull",
    "git commit -m 'git push later'",
    'git commit -m "rm -rf /"',
    "git add .",
    "git checkout -b rm-branch",
    "git stash",
    "git branch -D push",
    "git tag push",
    "git log push",
    "git show HEAD:rm",
    "git grep rm",
    "echo rm -rf /",
    "echo 'git push'",
    'echo "sudo make me a sandwich"',
    "echo sudo",
    "printf 'rm\\n'",
    "cat rm",
    "cat rm.txt | grep dd",
    "grep -r 'rm -rf' .",
    "grep chmod f",
    "man rm",
    "which sudo",
    "type rm",
    "command -v rm",
    "command -V sudo",
    "ls rm",
    "ls | grep rm",
    "ls; pwd",
    "ls && pwd || date",
    "cd src && ls",
    "mkdir x && cd x",
    "touch rm",
    "cp rm x",
    "mv a rm",
    "rmdir x",
    "kubectl get pods",
    "kubectl logs delete",
    "kubectl get pod delete",
    "kubectl describe deployment push",
    "npm install",
    "npm ls",
    "npm view publish",
    "npm ci",
    "npm outdated",
    "terraform plan",
    "terraform plan -out=apply",
    "terraform show apply",
    "curl https://x.example/rm",
    "curl -s https://x/ -o f",
    "wget https://x/rm",
    "tail -f log",
    "head -n 5 f",
    "sort f | uniq -c",
    "wc -l < f",
    "ls > out.txt",
    "ls >> out.txt",
    "ls 2>&1",
    "ls 2>/dev/null",
    "ls &>/dev/null",
    "date +%s",
    "sleep 1",
    "true",
    "false",
    ":",
    "test -f rm",
    "[ -f rm ]",
    "[[ -f rm ]]",
    'for f in *.txt; do echo "$f"; done',
    "if [ -f x ]; then cat x; fi",
    'while read l; do echo "$l"; done < f',
    "case x in rm) echo x;; esac",
    "x=1; echo $x",
    "x=rm; echo $x",
    'echo "$x"',
    "echo $HOME",
    "echo ${x}",
    "echo $((1+1))",
    "echo $(date)",
    'echo "$(git rev-parse HEAD)"',
    "find . -name rm",
    "find . -name '*.py' -type f",
    "find . -name '*.py' -exec grep -l x {} +",
    "find . -type f | xargs grep rm",
    "ls | xargs -n1 basename",
    "env",
    "env | grep PATH",
    "env FOO=1 ls",
    "nohup ls",
    "time ls",
    "timeout 5 ls",
    "nice ls",
    "diff a b",
    "diff <(ls a) <(ls b)",
    "tar czf a.tgz b",
    "tar xf a.tgz",
    "zip -r a.zip b",
    "unzip a.zip",
    "gzip f",
    "sed 's/rm/x/' f",
    "sed -n '1,5p' f",
    "sed -i 's/a/b/g' f",
    "sed -e 's/e/x/' f",
    "sed 's/e$/x/;s/a/e/' f",
    "awk '{print $2}' f",
    "awk -F: '{print $1}' /etc/passwd",
    "awk '/rm/ {print}' f",
    "cut -d: -f1 f",
    "tr a-z A-Z < f",
    "jq . f",
    "jq '.rm | .dd' f",
    "python3 --version",
    "node --version",
    "java -version",
    "bash --version",
    "pip list",
    "pip install x",
    "cargo build",
    "cargo test",
    "go build ./...",
    "go test ./...",
    "docker ps",
    "docker images",
    "docker logs x",
    "docker rm x",
    "git rm x",
    "npm rm x",
    "kubectl get rm",
    "apt list",
    "brew list",
    "ps aux | grep sudo",
    "kill 1",
    "df -h",
    "du -sh *",
    "id",
    "whoami",
    "uname -a",
    "ls # git push",
    "# rm",
    'ls "a b"',
    "ls 'a;rm b'",
    "ls a\\;rm",
    "ls a\\ b",
    "ls *.rm",
    "ls {a,b}",
    "ls {1..3}",
    "ls ~",
    "ls ~/x",
    "ls -- -rm",
    'echo "a; rm b"',
    "echo 'a && rm b'",
    "echo a '&&' rm b",
    'echo "\\$(rm x)"',
    "echo '$(rm x)'",
    "echo '`rm x`'",
    "echo \\`rm\\`",
    'echo "it\'s rm"',
    "export FOO=rm",
    "FOO=rm ls",
    "xargs echo rm",
    "xargs",
    "echo rm | xargs echo",
    "echo rm | cat",
    "echo 'rm x' | tee f",
    "echo sh | grep sh",
    "history",
    "alias",
    "set -e; ls",
    "set -euo pipefail; ls",
    "shopt -s nullglob; ls",
    "exit 0",
    "cd /tmp; ls; cd -",
    "(cd x && ls)",
    "{ ls; pwd; }",
    'ls | while read f; do echo "$f"; done',
    "! ls",
    "ls &",
    "wait",
    "trap - EXIT",
    "ssh-keygen -l -f x",
    "helm list",
    "aws s3 ls",
    "gh pr list",
    "make --version",
    "pytest",
    "ruff check .",
    "mypy .",
    "rg rm",
    "fd rm",
    "tree",
    "stat rm",
    "file rm",
    "realpath rm",
    "readlink -f rm",
    "basename /bin/rm",
    "dirname /bin/rm",
    "seq 1 3",
    "yes | head -1",
    "openssl version",
    "strings rm",
    "/bin/ls",
    "/usr/bin/git status",
    "LC_ALL=C sort f",
    "TZ=UTC date",
    "DEBUG=1 ls",
    "FORCE_COLOR=1 ls",
    "NODE_ENV=test ls",
    "cat <<EOF\nrm -rf /\nEOF",
    "cat > f <<'EOF'\nrm $(x)\nEOF",
    "ls\npwd",
    "git commit -m 'a\nb'",
)


def judged(reading: ShellReading) -> str:
    """The outcome that a policy of the two lists would give a reading."""
    if DENIED.judge(reading) == YES:
        return "deny"
    asked = DENIED.judge(reading) != NO or ASKED.judge(reading) != NO or reading.doubts or not reading.commands
    return "approve" if asked else "allow"


@pytest.mark.parametrize("line", DENY)
def test_denied_programs_are_found(line: str) -> None:
    """A denied program is found behind every wrapper, quote, substitution and nesting."""
    assert "deny" == judged(read_line(line))


@pytest.mark.parametrize("line", ASK)
def test_subcommands_are_found(line: str) -> None:
    """A sub-command is found past options, quotes and wrappers, and one that cannot be told asks."""
    assert "approve" == judged(read_line(line))


@pytest.mark.parametrize("line", UNTOLD)
def test_what_cannot_be_told_never_passes(line: str) -> None:
    """A line whose programs, or what they do, cannot be told from its text is not allowed."""
    assert judged(read_line(line)) in {"approve", "deny"}


@pytest.mark.parametrize("line", [line for line in ALLOW if not line.startswith("#")])
def test_look_alikes_pass(line: str) -> None:
    """A listed word that is an argument, a text, a file name or a comment is not a program."""
    assert "allow" == judged(read_line(line))


@pytest.mark.parametrize(
    "line", ["chmodx", "gitpush", "git-push-helper", "ddrescue a", "mkfsx", "./x.sh a", "acme push git", "Ls", "acme ."]
)
def test_a_program_that_is_not_known_is_asked_about(line: str) -> None:
    """A name like a listed one is another program; what it does with its words is not known."""
    reading = read_line(line)

    assert NO == max(DENIED.judge(reading), ASKED.judge(reading))
    assert "approve" == judged(reading)


@pytest.mark.parametrize(
    "line",
    [
        "acme-run rm x",
        "./x.sh rm y",
        "/opt/x/bin/tool --do='rm y'",
        "acme 'a; rm x'",
        "acme -crm x",
        "acme git push",
        "acme --cmd 'git push'",
        "ls | xargs acme rm",
        "find . -exec acme rm {} +",
        "RM x",
        "/bin/RM x",
        "rm.exe x",
        "/usr/bin/acme a b c d e f g h i j k rm",
    ],
)
def test_a_listed_word_behind_a_program_that_is_not_known_is_asked_about(line: str) -> None:
    """The program may run it, so a list that names it cannot say no; it cannot say yes either."""
    reading = read_line(line)

    assert UNSURE == max(DENIED.judge(reading), ASKED.judge(reading))


@pytest.mark.parametrize("line", ["", "   ", "\n", "# rm x", "X=1", "> out.txt"])
def test_a_line_without_a_program_is_not_resolved(line: str) -> None:
    """A line that names no program has none to be sure of."""
    assert not read_line(line).commands


ARGV = (
    (["rm", "-f", "x"], "deny"),
    (["/bin/rm", "x"], "deny"),
    (["sh", "-c", "rm x"], "deny"),
    (["env", "A=1", "rm"], "deny"),
    (["bash", "-lc", "git push"], "approve"),
    (["git", "-C", "d", "push"], "approve"),
    (["ls", "-la"], "allow"),
    (["echo", "rm"], "allow"),
    (["ls", "; rm x"], "approve"),
    (["ls", "$(rm x)"], "approve"),
    (["./run"], "approve"),
)


@pytest.mark.parametrize(("argv", "expected"), ARGV)
def test_argument_lists_are_read_as_well(argv: list[str], expected: str) -> None:
    """An argument list is read without a shell; shell syntax in an argument is a doubt."""
    assert expected == judged(read_argv(argv))


@pytest.mark.parametrize("line", [*DENY, *ASK, *UNTOLD, *ALLOW])
def test_blanks_around_a_line_change_nothing(line: str) -> None:
    """Leading and trailing blanks and newlines give the same outcome."""
    assert judged(read_line(line)) == judged(read_line(f"  {line}"))
    assert line.endswith("\\") or judged(read_line(line)) == judged(read_line(f"{line}\n"))


@pytest.mark.parametrize("joint", [" && ", " || ", " | ", "; ", "\n"])
def test_one_denied_command_denies_the_whole_line(joint: str) -> None:
    """Whatever stands before or after it, a denied command is found."""
    lines = [line for line in ALLOW if "\n" not in line and "#" not in line]

    assert [] == [line for line in lines if judged(read_line(f"{line}{joint}rm x")) != "deny"]
    assert [] == [line for line in lines if judged(read_line(f"rm x{joint}{line}")) != "deny"]


WRAPPINGS = (
    "sh -c {}",
    "bash -c {}",
    "eval {}",
    "env sh -c {}",
    "timeout 5 bash -c {}",
    "nohup sh -c {} &",
    "xargs sh -c {}",
    "echo x | xargs bash -c {}",
    "find . -exec sh -c {} ;",
    "echo {} | sh",
    "bash <<< {}",
    "trap {} EXIT",
    "su -c {}",
    "script -c {} out",
    "flock f -c {}",
    "watch {}",
    "if true; then sh -c {}; fi",
    "f() {{ sh -c {}; }}; f",
    "ssh host {}",
    "env -S {}",
)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("inner", ["rm x", "ls && rm x", "/bin/rm x", "env rm x", 'r"m" x', "sudo ls", "mkfs.ext4 d"])
def test_wrapping_never_hides_a_program(wrapping: str, inner: str) -> None:
    """A line given to another program as text is read like a line of its own, twice over as well."""
    quoted = "'" + inner + "'"
    once = wrapping.format(quoted)

    assert "deny" == judged(read_line(once))
    assert "deny" == judged(read_line("sh -c " + "'" + once.replace("'", "'\\''") + "'"))


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrapping_never_makes_a_line_pass(wrapping: str) -> None:
    """What is not allowed on its own is not allowed inside another command."""
    quoted = ["'" + line.replace("'", "'\\''") + "'" for line in (*DENY, *ASK, *UNTOLD)]

    assert [] == [line for line in quoted if judged(read_line(wrapping.format(line))) == "allow"]


def test_lists_name_redirections() -> None:
    """An entry ``>`` or ``>>`` stands for writing to a file; the bit bucket and descriptors are none."""
    anything, appending = Programs.of((">:",)), Programs.of((">>",))

    assert YES == anything.judge(read_line("ls > out"))
    assert YES == anything.judge(read_line(">out"))
    assert YES == appending.judge(read_line("ls >> out"))
    assert NO == appending.judge(read_line("ls > out"))
    assert NO == anything.judge(read_line("ls 2>&1"))
    assert NO == anything.judge(read_line("ls > /dev/null"))
    assert NO == anything.judge(read_line("cat < in"))


def test_a_list_says_when_it_cannot_tell() -> None:
    """A program or a sub-command that is known only at run time is neither listed nor not listed."""
    assert UNSURE == DENIED.judge(read_line("$X y"))
    assert UNSURE == ASKED.judge(read_line("git $X"))
    assert NO == ASKED.judge(read_line("ls $X"))
    assert NO == DENIED.judge(read_line("python3 x.py"))


def test_resolved_programs_are_named_in_order() -> None:
    """The card's list: each program once, an unknown one as a question mark."""
    assert ("git", "sh", "rm") == resolved_programs("git log | sh -c 'rm x; git log'")
    assert ("?",) == resolved_programs("$X")
    assert ("sh", "?") == resolved_programs("sh -c $X")
    assert ("env", "ls") == resolved_programs(["env", "ls"])


HOSTILE = (
    "echo " + "$(" * 400 + "rm" + ")" * 400,
    "sh -c '" * 60 + "rm",
    "sudo " * 3000 + "rm",
    "env -S '" * 200,
    "a" * 200_000,
    "\\" * 60_000,
    "`" * 5_001,
    "{a," * 3_000,
    "{a,b}" * 500,
    "sed 's" + "\\a" * 3_000 + "'",
    "parallel parallel parallel parallel parallel parallel parallel parallel parallel rm",
    "watch 'watch \"watch watch watch watch\"' x" * 20,
    "echo 'x' | sh; " * 500,
    "'" * 9_999,
    "<<A " * 500,
    "x=" + "$x" * 5_000 + "; $x",
    "((" * 2_000,
    "a\\\n" * 3_000,
    "\u202e" * 3_000,
    "$X $(x) '" + "[" * 60_000 + "'",
    "$X '" + "a[$(y)]" * 8_000 + "'",
    "$X '[" + "$(" * 20_000 + "'",
    "awk '|" + ",   " * 900 + "/x'",
    "awk '|" + "/[" * 1_900 + "'",
    "sed 'e;" + "/[a" * 1_200 + "'",
    "find . $X" + " $x" * 8_000,
)


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_lines_end_soon_and_never_pass(line: str) -> None:
    """A line made to be expensive is given up, not allowed; nothing overflows."""
    started = time.perf_counter()
    outcome = judged(read_line(line))

    assert outcome in {"approve", "deny"} or line.startswith("aaa")
    assert time.perf_counter() - started < 20  # seconds; a tenth of one where nothing else runs
