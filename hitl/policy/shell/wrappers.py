"""Tables of wrappers: programs, such as ``sudo``, whose later words are a command that they run.

The data come from the programs' own manuals (coreutils, util-linux, findutils, sudo, git, kubectl, docker, ...). For an
option that isn't in the tables, both cases are tried: the option takes a value, and it doesn't. So every command that a
wrapper might run is found.
"""

from dataclasses import dataclass
from typing import Any

from hitl.policy.tables import names

SHORTEST = 3  # characters; the shortest long option is two hyphens and a letter


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a program: those that take the next word as their value, and those without a value."""

    valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()

    def takes(self, word: str) -> bool | None:
        """Return whether an option word takes the next word as its value, or None if the option is unknown."""
        if word.startswith("--"):
            return False if "=" in word or word in self.flags else True if word in self.valued else None
        if word in self.valued:  # an option with one dash, also a long one, as terraform has
            return True
        return self._cluster(word)

    def abbreviates(self, word: str, option: str) -> bool:
        """Return whether an option word is this long option, in full or shortened as getopt_long allows."""
        name = word.partition("=")[0]
        if name == option:
            return True
        known = name in self.valued or name in self.flags
        return name[:2] == "--" and len(name) >= SHORTEST and not known and option.startswith(name)

    def _cluster(self, word: str) -> bool | None:
        for at, letter in enumerate(word[1:], start=1):
            option = f"-{letter}"
            if option in self.valued:
                return at == len(word) - 1
            if option not in self.flags:
                return False if at > 1 or word in self.flags or "=" in word else None
        return False


def options(valued: str = "", flags: str = "") -> Options:
    """Return the options of a program.

    ``valued`` are the options that take a value. ``flags`` are the options without a value. Each argument is a text
    with names of options, separated by blanks.
    """
    return Options(names(valued), names(flags))


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program whose later words are a command that it runs."""

    options: Options = Options()
    #: The number of words between the options and the command, such as a duration, a lock file or a user.
    skip: int = 0
    #: Whether assignments (`NAME=value`) may come before the command.
    assignments: bool = False
    #: The options whose value is shell text.
    source: frozenset[str] = frozenset()
    #: Whether the remaining words are joined and given to a shell.
    joined: bool = False
    #: Whether the command runs on another host or in a container. Its programs there may not be the usual ones.
    elsewhere: bool = False
    #: The options with which the program starts a shell.
    shell_flags: frozenset[str] = frozenset()
    #: The options with which the program runs no command.
    lookup: frozenset[str] = frozenset()
    #: Whether the command comes directly after ``--``, without the words that ``skip`` counts.
    bare: bool = False


def _wrapper(valued: str = "", flags: str = "", source: str = "", **more: Any) -> Wrapper:
    return Wrapper(options(f"{valued} {source}", flags), source=names(source), **more)


_SUDO = _wrapper(
    "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type -T --command-timeout -U"
    " --other-user -D --chdir -R --chroot",
    "-A -b -E -H -K -k -l -n -P -S -V -v -N -B --non-interactive --preserve-env --reset-timestamp --set-home --stdin"
    " --background --askpass --login --shell -i -s",
    assignments=True,
    shell_flags=frozenset({"-i", "-s", "--login", "--shell"}),
)

WRAPPERS: dict[str, Wrapper] = {
    "env": _wrapper(
        "-u --unset -C --chdir -a --argv0",
        "-i - -0 -v --ignore-environment --null --debug --list-signal-handling",
        "-S --split-string",
        assignments=True,
    ),
    "nohup": _wrapper(flags="--help --version"),
    "setsid": _wrapper(flags="-c -f -w --ctty --fork --wait"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p -P -u --class --classdata --pid", "-t --ignore"),
    "timeout": _wrapper("-k -s --kill-after --signal", "-v -p -f --foreground --preserve-status --verbose", skip=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "time": _wrapper(
        "-f -o --format --output", "-p -a -v -q --portability --append --verbose --quiet", assignments=True
    ),
    "chrt": _wrapper("-T -P -D", "-b -f -i -o -r -d -R -a -m -v --fifo --rr --other --batch --idle", skip=1),
    "taskset": _wrapper(flags="-a -c -p --all-tasks --cpu-list --pid", skip=1),
    "flock": _wrapper(
        "-w -E --timeout --wait --conflict-exit-code",
        "-s -x -e -u -n -o -F -v --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose",
        "-c --command",
        skip=1,
    ),
    "xargs": _wrapper(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-chars --max-procs --process-slot-var",
        "-0 -o -p -r -t -x -i -l -e --null --no-run-if-empty --verbose --interactive --exit --open-tty --show-limits",
    ),
    "sudo": _SUDO,
    "sudoedit": _SUDO,
    "doas": _wrapper("-u -C -a", "-L -n -s", shell_flags=frozenset({"-s"})),
    "pkexec": _wrapper("--user", "--disable-internal-agent --keep-cwd"),
    "su": _wrapper(
        "-s -g -G -w --shell --group --supp-group --whitelist-environment",
        "- -l -m -p -P -f --login --preserve-environment --pty --fast",
        "-c --command --session-command",
        skip=1,
        shell_flags=frozenset({""}),
    ),
    "runuser": _wrapper(
        "-u -s -g -G --user --shell --group --supp-group",
        "- -l -m -p -P -f --login --preserve-environment",
        "-c --command --session-command",
    ),
    "command": _wrapper(flags="-p -v -V", lookup=frozenset({"-v", "-V"})),
    "builtin": Wrapper(),
    "exec": _wrapper("-a", "-c -l"),
    "coproc": Wrapper(assignments=True),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "chroot": _wrapper("--groups --userspec", "--skip-chdir", skip=1),
    "unshare": _wrapper(
        "-R -w -S -G --root --wd --setuid --setgid --map-user --map-group --propagation --setgroups",
        "-m -u -i -n -p -U -C -T -f -r -c --mount --uts --ipc --net --pid --user --fork --map-root-user --mount-proc",
    ),
    "nsenter": _wrapper("-t -S -G --target --setuid --setgid", "-a -m -u -i -n -p -U -C -T -F -r -w --all"),
    "setpriv": Wrapper(),
    "strace": _wrapper(
        "-a -b -e -E -I -o -O -p -P -s -S -u -U -X",
        "-c -C -d -D -f -F -h -i -k -n -q -r -t -T -v -V -w -x -y -z -Z",
    ),
    "ltrace": _wrapper("-a -A -D -e -F -l -n -o -p -s -u -w -x", "-b -c -C -f -i -L -r -S -t -T"),
    "valgrind": Wrapper(),
    "watch": _wrapper(
        "-n --interval -q --equexit",
        "-b -c -C -d -e -g -p -t -w -x --beep --color --no-color --differences --errexit --chgexit --precise "
        "--no-title --no-wrap --exec",
        joined=True,
    ),
    "parallel": _wrapper(
        "-j --jobs -a --arg-file --colsep -S --sshlogin --delay --timeout --joblog -n -N -I",
        "-k -X -m -u -q --keep-order --bar --progress --dry-run --pipe --ungroup",
        joined=True,
    ),
    "script": _wrapper(
        "-E -I -O -B -T -m -o --echo --log-in --log-out --log-io --log-timing --output-limit",
        "-a -e -f -q --append --return --flush --force --quiet",
        "-c --command",
        skip=1,
    ),
    "unbuffer": _wrapper(flags="-p"),
    "rlwrap": Wrapper(),
    "chronic": _wrapper(flags="-v -e"),
    "catchsegv": Wrapper(),
    "eatmydata": Wrapper(),
    "fakeroot": _wrapper("-l -s -i -f -b", "-u -v"),
    "proot": _wrapper("-r -b -q -w -R -S", "-0"),
    "firejail": Wrapper(),
    "bwrap": Wrapper(),
    "systemd-run": _wrapper(
        "-p -u -E -M -H --property --unit --description --slice --uid --gid --nice --working-directory --setenv "
        "--on-active --on-boot --on-calendar",
        "-P -t -G -q -d -S --user --system --scope --pty --pipe --wait --collect --quiet --remain-after-exit "
        "--same-dir --no-block",
    ),
    "systemd-inhibit": _wrapper("--what --who --why --mode"),
    "dbus-run-session": Wrapper(),
    "dbus-launch": Wrapper(),
    "xvfb-run": _wrapper(
        "-e -f -n -p -s --error-file --auth-file --server-num --xauth-protocol --server-args",
        "-a -l --auto-servernum --listen-tcp",
    ),
    "torsocks": Wrapper(),
    "torify": Wrapper(),
    "proxychains": _wrapper("-f", "-q"),
    "proxychains4": _wrapper("-f", "-q"),
    "numactl": Wrapper(),
    "cgexec": _wrapper("-g", "--sticky"),
    "prlimit": Wrapper(),
    "softlimit": Wrapper(),
    "setarch": _wrapper(skip=1),
    "linux32": Wrapper(),
    "linux64": Wrapper(),
    "i386": Wrapper(),
    "x86_64": Wrapper(),
    "caffeinate": _wrapper("-t -w", "-d -i -m -s -u"),
    "start-stop-daemon": Wrapper(),
    "daemonize": Wrapper(),
    "dumb-init": Wrapper(),
    "tini": Wrapper(),
    "gosu": _wrapper(skip=1),
    "su-exec": _wrapper(skip=1),
    "ssh-agent": _wrapper("-a -t -P -E -O", "-c -D -d -k -s"),
    "choom": _wrapper("-n --adjust -p --pid"),
    "logsave": _wrapper(flags="-a -s -v", skip=1),
    "multitime": _wrapper("-f -I -i -n -o -r -s", "-l -q -v --help"),
    "openvt": _wrapper("-c --console", "-e -f -l -s -u -v -w --exec --force --login --switch --user --verbose --wait"),
    "grc": _wrapper("-c --config", "-e -s --pty --stderr --stdout"),
    "aa-exec": _wrapper("-p -n --profile --namespace", "-d -i -v --debug --immediate --verbose"),
    "aws-vault": _wrapper(skip=2),
    "dotenv": _wrapper("-f -e", "run"),
    "direnv": _wrapper(skip=2),
    "gdb": Wrapper(),
    "perf": _wrapper(skip=1),
    "hyperfine": _wrapper("-w -r -m -M -p -s -c -n --warmup --runs --prepare --setup --cleanup", "-i -N", joined=True),
    "entr": _wrapper(flags="-a -c -d -n -p -r -s -z"),
    "watchexec": _wrapper("-e -w -i --exts --watch --ignore", joined=True),
    "nodemon": _wrapper(source="-x --exec"),
    "ssh": _wrapper(
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B",
        "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
        skip=1,
        joined=True,
        elsewhere=True,
    ),
    "sshpass": _wrapper("-f -d -p -P", "-e -v"),
    "autossh": _wrapper("-M", skip=1, joined=True, elsewhere=True),
    "mosh": _wrapper(skip=1, elsewhere=True),
    "rsh": _wrapper("-l", "-n -d", skip=1, joined=True, elsewhere=True),
    "pdsh": _wrapper("-w -x -g -l -f", joined=True, elsewhere=True),
    "ansible": _wrapper("-i -m -u", "-b", "-a --args", skip=1, elsewhere=True),
    "vagrant": _wrapper(source="-c --command", skip=1, elsewhere=True),
}

# Options of sub-commands, for SUBCOMMAND_WRAPPERS: programs that are wrappers only with one of these sub-commands.
_CONTAINER_EXEC = _wrapper(
    "-e -u -w --env --env-file --user --workdir --detach-keys --index",
    "-d -i -t -it -ti -T --detach --interactive --tty --privileged --no-TTY",
    skip=1,
    elsewhere=True,
)
_CONTAINER_RUN = _wrapper(
    "-a -c -e -h -l -m -p -u -v -w --add-host --attach --cap-add --cap-drop --cgroupns --cidfile --cpus --cpuset-cpus"
    " --cpu-shares --device --dns --entrypoint --env --env-file --expose --gpus --group-add --hostname --ip --ipc "
    "--label"
    " --link --log-driver --log-opt --mac-address --memory --mount --name --network --net --pid --platform --publish"
    " --pull --restart --runtime --security-opt --shm-size --stop-signal --tmpfs --ulimit --user --userns --volume"
    " --volumes-from --workdir",
    "-d -i -t -P -it -ti -q --detach --init --interactive --privileged --publish-all --quiet --read-only --rm --tty",
    skip=1,
    elsewhere=True,
)
_KUBECTL_EXEC = _wrapper(
    "-n --namespace -c --container -f --filename --context --kubeconfig --pod-running-timeout",
    "-i -t -it -ti -q --stdin --tty --quiet",
    skip=1,
    elsewhere=True,
    bare=True,
)
_CONTAINERS: dict[tuple[str, ...], Wrapper] = {
    ("exec",): _CONTAINER_EXEC,
    ("run",): _CONTAINER_RUN,
    ("container", "exec"): _CONTAINER_EXEC,
    ("container", "run"): _CONTAINER_RUN,
    ("compose", "exec"): _CONTAINER_EXEC,
    ("compose", "run"): _CONTAINER_RUN,
}
_PODS: dict[tuple[str, ...], Wrapper] = {
    ("exec",): _KUBECTL_EXEC,
    ("run",): _KUBECTL_EXEC,
    ("debug",): _KUBECTL_EXEC,
}
SUBCOMMAND_WRAPPERS: dict[str, dict[tuple[str, ...], Wrapper]] = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _CONTAINERS),
    **dict.fromkeys(("kubectl", "oc", "k3s", "microk8s"), _PODS),
    "lxc": {("exec",): _wrapper(skip=1, elsewhere=True)},
    "lxc-attach": {(): _wrapper("-n", elsewhere=True)},
    "machinectl": {("shell",): _wrapper(skip=1, elsewhere=True)},
    "flatpak": {("run",): _wrapper(source="--command", skip=1, elsewhere=True)},
    "snap": {("run",): Wrapper(elsewhere=True)},
    "git": {
        ("submodule", "foreach"): _wrapper(flags="--recursive -q --quiet", joined=True),
        ("bisect", "run"): Wrapper(),
        ("merge-index",): _wrapper(flags="-o -q"),
        ("rebase",): _wrapper(
            "-s -X -C --strategy --strategy-option --onto",
            "-i -v -q -n -f -m -k -p --interactive --verbose --quiet",
            source="-x --exec",
            skip=99,
        ),
        ("filter-branch",): _wrapper(
            source="--env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter"
            " --tag-name-filter --setup",
            skip=99,
        ),
        ("difftool",): _wrapper(source="-x --extcmd", skip=99),
    },
    "uv": {("run",): Wrapper(), ("tool", "run"): Wrapper(elsewhere=True)},
    "poetry": {("run",): Wrapper()},
    "pipenv": {("run",): Wrapper()},
    "hatch": {("run",): Wrapper()},
    "pdm": {("run",): Wrapper()},
    "rye": {("run",): Wrapper()},
    "conda": {("run",): _wrapper("-n -p --name --prefix --cwd")},
    "mamba": {("run",): _wrapper("-n -p --name --prefix --cwd")},
    "bundle": {("exec",): Wrapper()},
    "nix-shell": {(): _wrapper("-p -I -A --arg --argstr", source="--run --command", skip=99)},
    "nix": {
        ("run",): Wrapper(elsewhere=True),
        ("shell",): _wrapper(source="-c --command", skip=99),
        ("develop",): _wrapper(source="-c --command", skip=99),
    },
    "op": {("run",): Wrapper()},
    "doppler": {("run",): _wrapper(source="--command")},
    "chamber": {("exec",): _wrapper(skip=1)},
    "tmux": {
        ("new-session",): _wrapper("-c -e -F -n -s -t -x -y", "-A -d -D -E -P -X", joined=True),
        ("new",): _wrapper("-c -e -F -n -s -t -x -y", "-A -d -D -E -P -X", joined=True),
        ("new-window",): _wrapper("-c -e -F -n -t", "-a -b -d -k -P -S", joined=True),
        ("split-window",): _wrapper("-c -e -l -t -F", "-b -d -f -h -I -v -P -Z", joined=True),
        ("run-shell",): _wrapper("-d -t", "-b -C", joined=True),
        ("send-keys",): _wrapper("-N -t", "-F -H -K -l -M -R -X", joined=True),
    },
    "screen": {(): _wrapper("-c -e -h -p -r -s -S -t -T", "-d -m -D -L -U", shell_flags=frozenset({""}))},
}

# Wrappers that start a shell if the line gives them no command.
SHELL_WITHOUT_COMMAND = names("chroot unshare nsenter fakeroot proot firejail setarch linux32 linux64 script")

# The dynamic loader runs the program that its first argument names.
LOADER = _wrapper("--library-path --preload --argv0 --inhibit-rpath --audit")
