"""What is known about programs: which ones run another program, and how their options are spelled.

Each table is data from the programs' own manuals (coreutils, util-linux, findutils, sudo, git, kubectl, docker, ...).
A wrapper is read so that every command it might run is found; what the tables do not know is read both ways.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import translate
from typing import Any

from hitl.policy.tables import names

_SHORTEST = 3  # of a long option's shortened name: two hyphens and a letter


@dataclass(frozen=True, slots=True)
class Options:
    """How a program's options are spelled: which take their value as a separate word, which are plain flags."""

    valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()

    def takes(self, word: str) -> bool | None:
        """Whether the option word takes the next word as its value; None when the tables do not say."""
        if word.startswith("--"):
            return False if "=" in word or word in self.flags else True if word in self.valued else None
        if word in self.valued:  # single-dash long options such as terraform's
            return True
        return self._cluster(word)

    def abbreviates(self, word: str, option: str) -> bool:
        """Whether an option word is this long option, whole or cut short as getopt_long lets people cut it."""
        name = word.partition("=")[0]
        if name == option:
            return True
        known = name in self.valued or name in self.flags
        return name[:2] == "--" and len(name) >= _SHORTEST and not known and option.startswith(name)

    def _cluster(self, word: str) -> bool | None:
        for at, letter in enumerate(word[1:], start=1):
            option = f"-{letter}"
            if option in self.valued:
                return at == len(word) - 1
            if option not in self.flags:
                return False if at > 1 or word in self.flags or "=" in word else None
        return False


def _options(valued: str = "", flags: str = "") -> Options:
    return Options(names(valued), names(flags))


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs the command named by its later words.

    ``skip`` positional words come before the command (a duration, a lock file, a user). ``source`` names the options
    whose value is shell text. ``joined``: the remaining words are joined and given to a shell. ``elsewhere``: the
    command runs on another host or in a container, so its programs are known by name only. ``shell_flags`` start a
    shell, with ``lookup`` ones nothing runs. ``bare``: after ``--`` the command follows at once.
    """

    options: Options = Options()
    skip: int = 0
    assignments: bool = False
    source: frozenset[str] = frozenset()
    joined: bool = False
    elsewhere: bool = False
    shell_flags: frozenset[str] = frozenset()
    lookup: frozenset[str] = frozenset()
    bare: bool = False


def _wrapper(valued: str = "", flags: str = "", source: str = "", **more: Any) -> Wrapper:
    return Wrapper(_options(f"{valued} {source}", flags), source=names(source), **more)


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

# Programs whose later words name a command only under one of these sub-commands: (path of words) -> its spelling.
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

SHELLS = names("sh bash dash ash ksh ksh93 mksh zsh fish rbash yash csh tcsh pwsh powershell")
SHELL_OPTIONS = _options(
    "-o -O +o +O --rcfile --init-file",
    "--norc --noprofile --posix --login --restricted --verbose --debugger --noediting --dump-strings --dump-po-strings "
    "--pretty-print --wordexp -i -l -x -e -u -v -n -r -s -p "
    "-a -f -h -k -m -b -t -B -C -D -E -H -P -T",
)

# Options of shells that name a file, or give code, to be run before anything else. Bash takes one hyphen for two.
SHELL_START_UPS = names("rcfile init-file init-command init")

# Interpreters: code given as an argument, a file or standard input decides what runs.
INTERPRETERS = names(
    "python python[0-9]* pypy* ipython* perl* ruby* irb node nodejs deno bun php* lua* luajit tclsh* "
    "wish* expect Rscript R julia guile* racket scheme sbcl clisp emacs* osascript groovy scala kotlin "
    "jshell java dotnet elixir erl escript ghci runghc runhaskell ocaml swift m4 dc gdb lldb bpftrace "
    "stap dtrace vi vim vim.* nvim view ex ed sqlite3 psql mysql mariadb mongo mongosh redis-cli ftp sftp "
    "telnet gnuplot octave* matlab maxima sage ts-node tsx babel-node coffee crystal nim zig dart swipl gprolog "
    "scala-cli amm sbt lein clj clojure bb mix iex cabal stack raku perl6 janet fennel jjs jrunscript "
    "nu xonsh elvish osh oil ysh rc es cmd wsl uvicorn gunicorn hypercorn flask streamlit jupyter papermill"
)
HARMLESS_FLAGS = frozenset({"--version", "-V", "-version", "--help", "-h", "-VV"})

# Programs that run what a file, a package or a server says: the line names them, not what they do.
RUNNERS = names(
    "make gmake cmake ninja rake just task mage ant mvn gradle invoke fab tox nox doit waf scons "
    "bazel npx bunx pnpx uvx pipx at batch crontab anacron source . fc run-parts service "
    "ansible-playbook puppet chef-client salt salt-call socat ld.so foreman overmind supervisord pm2 forever "
    "monit cargo-make act earthly dagger logrotate concurrently npm-run-all run-s run-p nodemon turbo nx lefthook "
    "husky pulumi sayso"
)
RUNNER_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "npm": names("run run-script start test stop restart exec x create init explore edit install-test"),
    "pnpm": names("run exec dlx start test create"),
    "yarn": names("run exec dlx start test create"),
    "bun": names("run x create test"),
    "composer": names("run-script exec run"),
    "cargo": names("run r make xtask script"),
    "go": names("run generate tool"),
    "dotnet": names("run exec script"),
    "docker": names("build buildx"),
    "nix": names("run"),
    "systemctl": names("edit link"),
    "aws": names("configure"),
    "gh": names("alias config extension extensions ext copilot models"),
    "brew": names("sh ruby irb edit"),
    "helm": names("plugin"),
}

# Sub-commands that store a setting, which may name a program to run later.
SETTING_SUBCOMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("npm", "pnpm"), (("config", "set"), ("config", "edit"), ("set",))),
    "yarn": (("config", "set"),),
    **dict.fromkeys(("pip", "pip3"), (("config", "set"), ("config", "edit"))),
}

# Runners whose sub-commands may also be a project's own: every word but these runs what its files say.
RUNNER_OWN: dict[str, frozenset[str]] = {
    "yarn": names(
        "add audit autoclean bin cache check config constraints dedupe explain help import info init install licenses "
        "link list login logout npm outdated owner pack patch patch-commit plugin policies prune publish rebuild "
        "remove search set stage tag team unlink unplug up upgrade upgrade-interactive version versions why"
    ),
    "pnpm": names(
        "add approve-builds audit bin cache config dedupe deploy env fetch help i import info install licenses link "
        "list ll ln login logout ls outdated pack patch patch-commit patch-remove prune publish rb rebuild remove rm "
        "root setup store un uninstall unlink up update upgrade version view whoami why"
    ),
    "bun": names(
        "add audit build help i info init install link outdated patch pm publish remove rm unlink update upgrade why"
    ),
    "composer": names(
        "about archive audit bump check-platform-reqs clear-cache clearcache config depends diagnose dump-autoload "
        "dumpautoload fund help i info init install licenses list outdated prohibits r reinstall remove req require "
        "search self-update selfupdate show status suggests u update upgrade validate why why-not"
    ),
    **dict.fromkeys(
        ("kubectl", "oc"),
        names(
            "adm alpha annotate api-resources api-versions apply attach auth autoscale certificate cluster-info "
            "completion "
            "config cordon cp create debug delete describe diff drain edit events exec explain expose extract get help "
            "idle image import label kustomize login logout logs new-app new-build new-project observe options patch "
            "policy port-forward process project projects proxy registry replace rollback rollout rsh rsync run scale "
            "secrets serviceaccounts set start-build status tag taint top uncordon version wait whoami"
        ),
    ),
    "helm": names(
        "completion create dependency dep dependencies env fetch get help history hist install inspect lint list ls "
        "package pull push registry repo rollback search show status template test uninstall del delete un upgrade "
        "verify version"
    ),
    "cargo": names(
        "add b bench build c check clean clippy config d doc fetch fix fmt generate-lockfile help info init install "
        "locate-project login logout metadata new owner package pkgid publish read-manifest remove report rm rustc "
        "rustdoc search t test tree uninstall update vendor verify-project version yank"
    ),
    "gh": names(
        "agent-task api attestation at auth browse cache cs codespace completion gist gpg-key help issue label org pr "
        "preview project release repo rs ruleset run search secret ssh-key status variable version workflow"
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        names(
            "attach auto-update builder checkpoint commit compose config container context cp create diff events exec "
            "export farm generate healthcheck help history image images import info init inspect kill kube load login "
            "logout logs machine manifest mount network node pause pod port ps pull push rename restart rm rmi run "
            "save "
            "scout search secret service stack start stats stop swarm system tag top trust umount unmount unpause "
            "unshare "
            "update version volume wait"
        ),
    ),
    "brew": names(
        "--cache --cellar --prefix --repository analytics autoremove casks cat cleanup commands completions config "
        "deps "
        "desc doctor fetch formulae gist-logs help home info install leaves link list log ls migrate missing options "
        "outdated pin postinstall readall reinstall search shellenv tap tap-info uninstall unlink unpin untap up "
        "update "
        "upgrade uses"
    ),
    "dotnet": names(
        "add build build-server clean dev-certs format help list new nuget pack package publish reference remove "
        "restore sdk sln solution store test user-secrets vstest workload"
    ),
}

# Programs that run what later words name, in one way or another: each of those words is taken for a program.
STARTERS = names(
    "cpulimit trickle nocache sem pssh parallel-ssh prsync clush dsh s6-setuidgid setuidgid envuidgid envdir setlock "
    "chpst runcon sg newgrp systemd-nspawn systemd-cat run0 please dzdo pfexec rr heaptrack uftrace dtach abduco xterm "
    "uxterm urxvt rxvt gnome-terminal konsole kitty alacritty wezterm foot terminator tilix cross-env cross-env-shell "
    "env-cmd dotenvx envchain onchange chokidar reflex when-changed noglob nocorrect lima toolbox faketime tsocks "
    "fakechroot schedtool ts-run timelimit run-one run-this-one lockf lckdo with-contenv sandbox-exec jexec zlogin "
    "flatpak-spawn distcc ccache sccache icecc pexec ksu gtk-launch exo-open dex xdg-terminal-exec cset "
    "scriptlive ptyxis tmate byobu wine proot-distro toolbx"
)
# The same, under one of these sub-commands.
STARTER_SUBCOMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("mise", "rtx"), (("exec",), ("x",), ("run",), ("r",))),
    **dict.fromkeys(("asdf", "rbenv", "pyenv", "nodenv", "goenv", "jenv", "fnm", "lerna"), (("exec",), ("run",))),
    **dict.fromkeys(("volta", "pixi", "micromamba", "devbox", "infisical", "teller", "zellij"), (("run",),)),
    **dict.fromkeys(("apptainer", "singularity"), (("exec",), ("run",), ("shell",), ("instance",))),
    **dict.fromkeys(("crictl", "incus", "multipass", "aws-okta", "saml2aws", "podman-compose"), (("exec",), ("run",))),
    "ctr": (("run",), ("task", "exec"), ("tasks", "exec"), ("t", "exec")),
    "limactl": (("shell",),),
    **dict.fromkeys(("colima", "minikube", "tsh", "orb"), (("ssh",),)),
    **dict.fromkeys(("fly", "flyctl"), (("ssh",), ("console",), ("machine", "exec"), ("machine", "run"))),
    "gcloud": (
        ("compute", "ssh"),
        ("alpha", "compute", "ssh"),
        ("beta", "compute", "ssh"),
        ("cloud-shell", "ssh"),
        ("compute", "tpus", "tpu-vm", "ssh"),
    ),
    "az": (("ssh",), ("vm", "run-command")),
    "gh": (("codespace", "ssh"), ("cs", "ssh")),
    "adb": (("shell",), ("exec-out",)),
    "heroku": (("run",), ("run:detached",), ("run:inside",), ("ps:exec",)),
    "distrobox": (("enter",),),
    "rustup": (("run",),),
    "vault": (("ssh",), ("agent",)),
    "consul": (("exec",), ("lock",), ("watch",)),
    "aws": (("ecs", "execute-command"), ("ssm", "start-session"), ("ssm", "send-command"), ("emr", "ssh")),
    "hg": (("bisect",), ("extdiff",), ("debugshell",)),
    "podman": (("unshare",),),
    "systemctl": (("switch-root",),),
    "oc": (("rsh",),),
    "guix": (("shell",), ("environment",), ("time-machine",)),
    "sops": (("exec-env",), ("exec-file",)),
    **dict.fromkeys(("pnpm", "yarn"), (("exec",), ("x",))),
    "npm": (("exec",), ("x",), ("explore",)),
}

# Arguments that make an otherwise plain program run something: (program) -> glob patterns of the word.
_COMPILER = names(
    "-wrapper -B* -specs* -fplugin* --specs* @* -fuse-ld* -Xlinker* -Wl,*plugin* -Xclang* -load -fpass-plugin* "
    "--ld-path* "
    "--gcc-toolchain*"
)
_SSH = names("-F* -I*")
RUNNING_ARGUMENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("tar", "gtar", "bsdtar"),
        names(
            "--checkpoint-action* --to-command* --use-compress-program* -I* --info-script* --new-volume-script* "
            "-F --rsh-command* --rmt-command* -T* --files-from* @*"
        ),
    ),
    "rsync": names("-e* --rsh* --rsync-path* -M* --remote-option*"),
    "scp": names("-S* -o* -F* -D*"),
    "sftp": names("-S* -o* -b* -D* -F*"),
    **dict.fromkeys(("ssh", "autossh"), _SSH),
    "zip": names("-T* -TT* --unzip-command*"),
    "cpio": names("--rsh-command* -F* --file* -I* -O*"),
    "sort": names("--compress-program*"),
    "split": names("--filter*"),
    "install": names("--strip-program*"),
    "diff3": names("--diff-program*"),
    "sdiff": names("--diff-program*"),
    "nc": names("-e* -c* --exec* --sh-exec*"),
    "ncat": names("-e* -c* --exec* --sh-exec* --lua-exec*"),
    "netcat": names("-e* -c*"),
    "wget": names("--use-askpass* --execute* -e* --config*"),
    "curl": names("-K* --config* --engine*"),
    "man": names("-P* --pager* -H* --html* -C* --config-file* -X* --gxditview* -p* --preprocessor*"),
    "less": names("+* -k* --lesskey*"),
    "more": names("+*"),
    "rg": names("--pre --pre=* --hostname-bin*"),
    "ag": names("--pager*"),
    **dict.fromkeys(("bat", "batcat"), names("--pager* --config-file* cache")),
    "delta": names("--pager* --config*"),
    "yq": names("--security-enable-system-operator*"),
    "mapfile": names("-C*"),
    "readarray": names("-C*"),
    "hash": names("-p*"),
    "enable": names("-f*"),
    "complete": names("-C* -F*"),
    "compgen": names("-C* -F* -W*"),
    "bind": names("-x*"),
    "jobs": names("-x*"),
    "tcpdump": names("-z*"),
    "pidstat": names("-e*"),
    "zpool": names("-c*"),
    "dmesg": names("-H* --human*"),
    "busctl": names("--address*"),
    "sysctl": names("*=* -w* -p* --write* --load* --system*"),
    "ip": names("e ex exe exec -b -ba -bat -batc -batch"),
    "cargo": names("--config*"),
    "rustc": names("-C* --codegen* -Z* --sysroot* @*"),
    "go": names(
        "-toolexec* -exec* -vettool* --toolexec* --vettool* --exec* -w* -ldflags* --ldflags* -overlay* --overlay*"
    ),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    **dict.fromkeys(("nm", "ar", "ranlib", "strip", "objcopy", "objdump"), names("--plugin* @*")),
    "hg": names("--config* --ssh* --remotecmd* -e*"),
    "npm": names(
        "--script-shell* --shell* --editor* --viewer* --browser* --git* --node-options* --init-module* --userconfig* "
        "--globalconfig*"
    ),
    "gh": names("--upload-pack*"),
    "systemctl": names("*/* --root* --image*"),
    "svn": names("--diff-cmd* --diff3-cmd* --editor-cmd* --config-option* --config-dir*"),
    "ssh-keygen": names("-D*"),
    "ssh-add": names("-s*"),
    **dict.fromkeys(("apt", "apt-get", "apt-cache", "apt-mark"), names("-o* --option* -c* --config-file*")),
    "rpm": names("--eval* -E* --pipe* --define* -D* --rcfile* --macros* --load*"),
    "dpkg": names("--pre-invoke* --post-invoke* --status-logger*"),
    **dict.fromkeys(("pip", "pip3"), names("--global-option* --install-option* --python* --editor*")),
    "uv": names("--python* -p*"),
    "openssl": names("-engine -provider* -config"),
    "gpg": names(
        "--photo-viewer* --exec-path* --agent-program* --dirmngr-program* --pinentry-program* --options* --homedir*"
    ),
    "kubectl": names("--kubeconfig*"),
    "oc": names("--kubeconfig*"),
    "helm": names("--kubeconfig* --post-renderer*"),
    **dict.fromkeys(("docker", "podman"), names("--config")),
    "mypy": names("--config-file* --python-executable* --custom-typing-module* --install-types*"),
    "pytest": names("-p* -c* --config-file* -o* --override-ini* --rootdir* --pdbcls*"),
    "mount": names("-t* --types*"),
    "umount": names("-t* --types*"),
    "git": names(
        "--exec-path=* --upload-pack* --receive-pack* --config-env* --open-files-in-pager* -O* [a-z]*::* "
        "--extcmd* --tool=* --template* --exec* --sendmail-cmd* --to-cmd* --cc-cmd* --httpd* --ext-diff"
    ),
    "ldd": names("*"),
    "xdg-open": names("*"),
    "open": names("*"),
}

# Options that are whole, though a listed one begins with them.
_WHOLE: dict[str, frozenset[str]] = {"pytest": names("--co"), "rg": names("--pretty --passthru")}

# Settings of ssh that run a program or load one, in any case; after ``-o`` or in a word of their own.
_SSH_SETTING = re.compile(
    r"(?:-\w*o)?\s*[\"']?(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|pkcs11provider"
    r"|securitykeyprovider|xauthlocation|include|match)[\s=\"']",
    re.IGNORECASE,
)

# Programs whose options may stand in one word (-avze): the letters after which the rest of the word is a value.
CLUSTERED: dict[str, str] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), "bCfgHKLNVX"),
    "rsync": "BfT",
    "scp": "ciJlPX",
    "sftp": "BciJlPRsX",
    "cpio": "CDEHMR",
    "less": "bDhjoOpPtTxyz",
    "compgen": "AGPSXo",
    "complete": "AGPSXWo",
    "mapfile": "dnOsuc",
    "readarray": "dnOsuc",
    "enable": "",
    "zpool": "oOT",
    "hash": "dt",
    "bind": "mfqur",
    "jobs": "",
    "tcpdump": "BcCEFGijmMQrsTVwWyZ",
    "dmesg": "fFlns",
    "mount": "oLUOTN",
    "umount": "ON",
    **dict.fromkeys(("apt", "apt-get", "apt-cache", "apt-mark"), "at"),
    "rpm": "fgpr",
    "pytest": "kmnrW",
    "uv": "cfiortU",
    "zip": "bintxP",
    "nc": "iImMopqsTVwWxX",
    "ncat": "dgGimopqsTwx",
    "netcat": "iImMopqsTVwWxX",
    "curl": "AbcCdDeEFHmMoPQrTtuUwxXyYz",
    "wget": "aABDiIlOoPQRtTUwX",
    **dict.fromkeys(("ssh", "autossh"), "bcDEeiJLlmOopQRSWwB"),
    "man": "rRLmMSsET",
}

# Programs that a single word of their arguments easily makes run another one or delete files.
STEERED = names("find gfind fd fdfind bfs tar rsync zip scp split nc ncat netcat")

# Wrappers that start a shell where no command is given.
SHELL_WITHOUT_COMMAND = names("chroot unshare nsenter fakeroot proot firejail setarch linux32 linux64 script")

# Settings given on a git command line that name a program.
GIT_SETTINGS = names(
    "alias.* core.sshcommand* core.pager* core.editor* core.fsmonitor* core.hookspath* core.gitproxy* "
    "core.askpass* core.alternaterefscommand* sequence.editor* pager.* diff.* difftool.* merge.* "
    "mergetool.* filter.* credential.* gpg.* remote.* protocol.ext* uploadpack.* interactive.* browser.* "
    "man.* trailer.* sendemail.* web.browser* init.templatedir* include.* includeif.* url.* http.proxy* "
    "submodule.* receive.* imap.* instaweb.* tar.* guitool.* maintenance.*"
)

# Git's own commands: any other word may be an alias, and an alias cannot take one of these names.
GIT_OWN = names(
    "add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore "
    "check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column "
    "commit commit-graph commit-tree config count-objects credential daemon describe diagnose diff "
    "diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch "
    "fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep gui hash-object "
    "help hook index-pack init init-db instaweb interpret-trailers log ls-files ls-remote ls-tree "
    "mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag "
    "mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune "
    "prune-packed pull push quiltimport range-diff read-tree rebase reflog refs remote repack replace "
    "replay request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog "
    "show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule switch "
    "symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var "
    "verify-commit verify-pack verify-tag version whatchanged worktree write-tree"
)

GIT_BISECT = names("start bad new good old terms skip next reset visualize view log help")
GIT_STRATEGIES = names("ours resolve recursive octopus subtree ort")
_IN_GIT_GREP = re.compile(r"-[^-ABCefm=]*O")  # a cluster with the option that opens a pager


def opens_pager(word: str) -> bool:
    """Whether an argument of ``git grep`` runs a pager of its own."""
    return _IN_GIT_GREP.match(word) is not None


# Git commands that run what the configuration, a hook or an option names.
GIT_CONFIGURED = names("citool daemon difftool gui for-each-repo hook instaweb mergetool send-email")

# The dynamic loader runs the program that its first argument names.
LOADER = _wrapper("--library-path --preload --argv0 --inhibit-rpath --audit")

# Variables through which a program's behaviour, or which program a name means, can be changed.
HIJACK_VARIABLES = names(
    "PATH LD_* DYLD_* BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS CDPATH HOME SHELL GIT_* "
    "*PAGER *EDITOR VISUAL BROWSER *OPEN *CLOSE *_COMMAND *_ASKPASS *_RSH *_SSH *_OPTIONS *_OPTS *OPT "
    "*FLAGS PYTHON* PERL5* RUBY* NODE_OPTIONS NODE_PATH NODE_EXTRA* NODE_REPL* LUA_* JAVA_* GCONV_PATH "
    "*_PATH *PRELOAD* TAR_* GREP_* TERMINFO* npm_config_* NPM_CONFIG_* HOSTALIASES OPENSSL_* "
    "SSLKEYLOGFILE CC CXX LD AR MAKE EMACSLOADPATH INPUTRC XDG_* DOCKER_HOST BASH_FUNC_* LESS PS0 PS1 PS2 RUSTC* "
    "RUSTDOC *_WRAPPER *_RUNNER *_LINKER GOTOOLCHAIN GOROOT"
    " LESS* MAN* KUBECONFIG DOCKER_* AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE PIP_* UV_* GH_* NPM_* HELM_* "
    "GNUPGHOME "
    "WGETRC CURL_* YARN_* CARGO_* RUSTUP_* GOENV MYPY* PYTEST_* BUNDLE_* GEM_* COMPOSER_* TF_* ANSIBLE_* VAGRANT_* HG* "
    "SVN_* SYSTEMD_* ZDOTDIR NLSPATH LOCPATH JAVA_HOME"
)
# Those of them that change no program and no search for one.
HARMLESS_VARIABLES = names(
    "GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_TRACE* PYTHONDONTWRITEBYTECODE "
    "PYTHONHASHSEED PYTHONIOENCODING PYTHONUNBUFFERED PYTHONUTF8 PYTHONWARNINGS TF_VAR_* TF_IN_AUTOMATION TF_INPUT "
    "TF_LOG* "
    "TF_WORKSPACE CARGO_TERM_* CARGO_INCREMENTAL CARGO_NET_* CARGO_TARGET_DIR PIP_NO_* PIP_DISABLE_* PIP_QUIET UV_NO_* "
    "COMPOSER_NO_* COMPOSER_MEMORY_LIMIT SYSTEMD_COLORS GH_REPO GH_HOST GH_TOKEN DOCKER_BUILDKIT "
    "DOCKER_DEFAULT_PLATFORM "
    "HELM_NAMESPACE ANSIBLE_NOCOLOR ANSIBLE_FORCE_COLOR HGPLAIN MANWIDTH LESSCHARSET"
)

TRUSTED_FOLDERS = names(
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /snap/bin /usr/libexec /usr/games"
)

# Programs that take the beginning of a sub-command for the whole: all their sub-commands.
ABBREVIATED: dict[str, frozenset[str]] = {
    "npm": names(
        "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec "
        "explain "
        "explore find-dupes fund get help help-search init install install-ci-test install-test link ll login logout "
        "ls "
        "org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run "
        "run-script sbom "
        "search set shrinkwrap star stars start stop team test token trust uninstall unpublish unstar update version "
        "view "
        "whoami"
    ),
    "hg": names(
        "add addremove annotate archive backout bisect bookmarks branch branches bundle cat clone commit config copy "
        "diff "
        "export extdiff files forget graft grep heads help histedit identify import incoming init locate log "
        "manifest merge "
        "outgoing parents paths phase pull purge push rebase recover remove rename resolve revert rollback root serve "
        "shelve status strip summary tag tags tip transplant unbundle unshelve update verify version"
    ),
    "bundle": names(
        "add binstubs cache check clean config console doctor exec fund gem help info init inject install issue lock "
        "open "
        "outdated package platform plugin pristine remove show update version viz"
    ),
    "ip": names("address link route rule neighbour netns vrf tunnel maddress mroute monitor xfrm token tcp_metrics"),
    "composer": names(
        "about archive audit browse bump check-platform-reqs clear-cache config create-project depends diagnose "
        "dump-autoload exec fund global home init install licenses outdated prohibits reinstall remove require "
        "run-script "
        "search self-update show status suggests update validate why why-not"
    ),
}
# Other names that a program has for its sub-commands.
ALIASES: dict[str, dict[str, str]] = {
    "npm": {
        **dict.fromkeys(names("un unlink remove rm r"), "uninstall"),
        **dict.fromkeys(names("i add in ins inst insta instal isnt isnta isntal isntall"), "install"),
        **dict.fromkeys(names("t tst"), "test"),
        **dict.fromkeys(names("x"), "exec"),
        **dict.fromkeys(names("rum urn"), "run"),
        **dict.fromkeys(names("create innit"), "init"),
        **dict.fromkeys(names("up upgrade udpate"), "update"),
        **dict.fromkeys(names("ic clean-install install-clean isntall-clean"), "ci"),
        **dict.fromkeys(names("it"), "install-test"),
        **dict.fromkeys(names("c"), "config"),
        **dict.fromkeys(names("rb"), "rebuild"),
        **dict.fromkeys(names("author"), "owner"),
        **dict.fromkeys(names("v info show"), "view"),
        **dict.fromkeys(names("ogr"), "org"),
        **dict.fromkeys(names("dist-tags"), "dist-tag"),
        **dict.fromkeys(names("add-user"), "adduser"),
        **dict.fromkeys(names("la list"), "ls"),
    },
    "cargo": {"b": "build", "c": "check", "d": "doc", "r": "run", "t": "test", "rm": "remove"},
}

TMUX_PLAIN = names(
    "ls list-sessions lsw list-windows lsp list-panes lsc list-clients has has-session a at attach attach-session "
    "detach "
    "kill-session kill-server kill-window killw kill-pane killp select-window selectw select-pane selectp "
    "rename-session "
    "rename-window capture-pane capturep show-options show start-server switch-client info"
)

# Where a sub-command may be preceded by options: the options of the program itself.
GLOBAL_OPTIONS: dict[str, Options] = {
    "git": _options(
        "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds",
        "-p -P --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs "
        "--noglob-pathspecs"
        " --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path --info-path -v "
        "--version"
        " -h --help",
    ),
    **dict.fromkeys(
        ("kubectl", "oc"),
        _options(
            "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid "
            "--cache-dir"
            " --certificate-authority --client-certificate --client-key --tls-server-name --request-timeout "
            "--username --password"
            " -v --v --vmodule --profile --profile-output --log-flush-frequency --kuberc",
            "--insecure-skip-tls-verify --match-server-version --disable-compression --warnings-as-errors -h --help",
        ),
    ),
    "helm": _options(
        "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config "
        "--repository-cache --repository-config --burst-limit",
        "--debug -h --help",
    ),
    "npm": _options(
        "--prefix -C -w --workspace --registry --userconfig --globalconfig --cache --loglevel --tag --otp --access "
        "--script-shell",
        "-g --global -s --silent -q --quiet -d --dry-run --json --ws --workspaces --include-workspace-root -y --yes "
        "--force -f -v --version",
    ),
    "yarn": _options("--cwd --registry --cache-folder", "-s --silent --verbose --json --offline"),
    "pnpm": _options("-C --dir --filter -F --registry --loglevel", "-r --recursive -w --workspace-root -s --silent"),
    "terraform": _options("-chdir", "-help -version"),
    "tofu": _options("-chdir", "-help -version"),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        _options(
            "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey -n --namespace "
            "--connection --url --root",
            "-D --debug --tls --tlsverify -v --version -r --remote",
        ),
    ),
    "aws": _options(
        "--profile --region --output --endpoint-url --query --ca-bundle --cli-read-timeout "
        "--cli-connect-timeout --color",
        "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager",
    ),
    "gcloud": _options(
        "--project --account --configuration --format --impersonate-service-account --verbosity "
        "--billing-project --filter",
        "-q --quiet --log-http --user-output-enabled",
    ),
    "az": _options("--subscription -o --output --query --only-show-errors", "--debug --verbose"),
    "gh": _options("-R --repo --hostname", "-h --help --version"),
    "systemctl": _options(
        "-H --host -M --machine -t --type --state -p --property --root -n --lines -o --output -s --signal",
        "--user "
        "--system -a --all -l --full -q --quiet -f --force --now --no-pager --no-block --no-legend "
        "--no-ask-password --global --runtime",
    ),
    "cargo": _options(
        "-C --config -Z --color --manifest-path --target-dir",
        "-v --verbose -q --quiet --frozen --locked --offline -V --version --list",
    ),
    "go": _options("-C"),
    "pip": _options(
        "--python --log --proxy --timeout --retries --cache-dir --cert --exists-action --trusted-host",
        "-q -v --quiet --verbose --isolated --require-virtualenv --no-input --no-cache-dir --debug",
    ),
    "apt": _options("-c -o -t --config-file --option --target-release", "-y -q -s -d -f -m --yes --quiet --assume-yes"),
    "apt-get": _options(
        "-c -o -t --config-file --option --target-release", "-y -q -s -d -f -m --yes --quiet --assume-yes"
    ),
    "brew": _options("", "-v -d -q --verbose --debug --quiet"),
    "vault": _options("-address -namespace -ca-cert"),
    "consul": _options("-http-addr -token"),
    "pulumi": _options("-C --cwd --color -s --stack", "--non-interactive -e --emoji"),
    "ansible": _options("-i -m -a -u"),
    "svn": _options(
        "--username --password --config-dir --config-option", "--non-interactive --no-auth-cache --trust-server-cert"
    ),
    "hg": _options("-R --repository --cwd --config --encoding", "-y -q -v --noninteractive --debug"),
    "openssl": _options(),
    "ip": _options("-n -netns -f -family -rc -l", "-4 -6 -s -d -o -r -br -j -p -c"),
    "zfs": _options(),
    "zpool": _options(),
    "psql": _options("-c -d -f -h -p -U -v"),
}


def _one_of(patterns: Iterable[str]) -> Callable[[str], object]:
    """One compiled search for many globs over the whole text; nothing matches an empty list."""
    joined = "|".join(translate(pattern) for pattern in patterns)
    return re.compile(joined or r"(?!)", re.DOTALL).match


is_interpreter = _one_of(INTERPRETERS)
names_program = _one_of(GIT_SETTINGS)
RUNS_BY_ARGUMENT = {program: _one_of(patterns) for program, patterns in RUNNING_ARGUMENTS.items()}
_hijacking, _harmless = _one_of(HIJACK_VARIABLES), _one_of(HARMLESS_VARIABLES)


def hijacks(variable: str) -> bool:
    """Whether setting a variable may change which program a name means, or what it does."""
    return bool(_hijacking(variable)) and not _harmless(variable)


def _clusters(program: str) -> re.Pattern[str]:
    letters = "".join(option[1] for option in RUNNING_ARGUMENTS[program] if re.match(r"-\w\*?$", option))
    return re.compile(rf"-[^-{CLUSTERED[program]}=/]*[{letters}]")


# Programs of which a word without a hyphen may do so; for all others only one that has "::" in it, as git's URLs have.
BARE_ARGUMENTS = names("ssh autossh scp sftp rsync") | {
    program
    for program, patterns in RUNNING_ARGUMENTS.items()
    if any(not pattern.startswith(("-", "[a-z]*::")) for pattern in patterns)
}
_SSH_LIKE = names("ssh autossh scp sftp rsync")
_CLUSTERS = {program: _clusters(program) for program in CLUSTERED}


def runs_by_argument(program: str, word: str) -> bool:
    """Whether a word makes a program run another: as listed, shortened (``--to-com=``) or in a cluster (``-avze``)."""
    if RUNS_BY_ARGUMENT[program](word) or (program in _SSH_LIKE and _SSH_SETTING.match(word)):
        return True
    if word.startswith("--"):
        name = word.partition("=")[0]
        return (
            len(name) >= _SHORTEST
            and name not in _WHOLE.get(program, ())
            and any(one.startswith(name) for one in RUNNING_ARGUMENTS[program])
        )
    return program in _CLUSTERS and _CLUSTERS[program].match(word) is not None


def plain_name(base: str) -> str:
    """A program's name as file systems that fold case, and those that leave out ``.exe``, would find it."""
    return base.lower().removesuffix(".exe")
