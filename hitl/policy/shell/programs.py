"""Tables of programs: the programs that run code, and the settings that may change what a program does.

Each table is data from the programs' own manuals (coreutils, util-linux, findutils, sudo, git, kubectl, docker, ...).
"""

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache

from hitl.policy.shell.wrappers import options
from hitl.policy.tables import names

SHELLS = names("sh bash dash ash ksh ksh93 mksh zsh fish rbash yash csh tcsh pwsh powershell")
SHELL_OPTIONS = options(
    "-o -O +o +O --rcfile --init-file",
    "--norc --noprofile --posix --login --restricted --verbose --debugger --noediting --dump-strings --dump-po-strings "
    "--pretty-print --wordexp -i -l -x -e -u -v -n -r -s -p "
    "-a -f -h -k -m -b -t -B -C -D -E -H -P -T",
)

# Long options of shells whose value is code to run first, or a file with such code. bash also accepts one hyphen.
SHELL_START_UPS = names("rcfile init-file init-command init")

# Patterns of the names of interpreters, which run code from an argument, a file or standard input.
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

# Programs that run commands from a file, a package or a server. The line doesn't show what these commands do.
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

# Program -> its sub-commands that store a setting, because a setting may name a program that runs later.
SETTING_SUBCOMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("npm", "pnpm"), (("config", "set"), ("config", "edit"), ("set",))),
    "yarn": (("config", "set"),),
    **dict.fromkeys(("pip", "pip3"), (("config", "set"), ("config", "edit"))),
}

# Program -> its built-in sub-commands. Any other sub-command may run commands from files of the project.
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

# Programs that run another program, which one of their words names. Nobody knows which word it is, so each of the first
# words counts as a program.
STARTERS = names(
    "cpulimit trickle nocache sem pssh parallel-ssh prsync clush dsh s6-setuidgid setuidgid envuidgid envdir setlock "
    "chpst runcon sg newgrp systemd-nspawn systemd-cat run0 please dzdo pfexec rr heaptrack uftrace dtach abduco xterm "
    "uxterm urxvt rxvt gnome-terminal konsole kitty alacritty wezterm foot terminator tilix cross-env cross-env-shell "
    "env-cmd dotenvx envchain onchange chokidar reflex when-changed noglob nocorrect lima toolbox faketime tsocks "
    "fakechroot schedtool ts-run timelimit run-one run-this-one lockf lckdo with-contenv sandbox-exec jexec zlogin "
    "flatpak-spawn distcc ccache sccache icecc pexec ksu gtk-launch exo-open dex xdg-terminal-exec cset "
    "scriptlive ptyxis tmate byobu wine proot-distro toolbx"
)
# Program -> its sub-commands that run the program which a later word names.
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

# Settings of git, given by `git -c` or `git config`, that may make git run a program.
GIT_SETTINGS = names(
    "alias.* core.sshcommand* core.pager* core.editor* core.fsmonitor* core.hookspath* core.gitproxy* "
    "core.askpass* core.alternaterefscommand* sequence.editor* pager.* diff.* difftool.* merge.* "
    "mergetool.* filter.* credential.* gpg.* remote.* protocol.ext* uploadpack.* interactive.* browser.* "
    "man.* trailer.* sendemail.* web.browser* init.templatedir* include.* includeif.* url.* http.proxy* "
    "submodule.* receive.* imap.* instaweb.* tar.* guitool.* maintenance.*"
)

# The built-in commands of git. Any other word may be an alias. An alias can't have the name of a built-in command.
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
_IN_GIT_GREP = re.compile(r"-[^-ABCefm=]*O")  # matches combined short options with `-O`, which opens a pager


def opens_pager(word: str) -> bool:
    """Return whether an argument of ``git grep`` makes it run a pager."""
    return _IN_GIT_GREP.match(word) is not None


# Git commands that run programs which the configuration, a hook or an option names.
GIT_CONFIGURED = names("citool daemon difftool gui for-each-repo hook instaweb mergetool send-email")

# Patterns of variables that can change what a program does, or which program a name means.
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
#: The variables among HIJACK_VARIABLES that name a pager. With the pager `cat`, a program only prints.
PAGERS = names("PAGER GIT_PAGER")
# Exceptions to HIJACK_VARIABLES: patterns of variables that change neither a program nor the search for a program.
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

TMUX_PLAIN = names(
    "ls list-sessions lsw list-windows lsp list-panes lsc list-clients has has-session a at attach attach-session "
    "detach "
    "kill-session kill-server kill-window killw kill-pane killp select-window selectw select-pane selectp "
    "rename-session "
    "rename-window capture-pane capturep show-options show start-server switch-client info"
)


def one_of(patterns: Iterable[str]) -> Callable[[str], object]:
    """Return a function that tests whether a whole text matches one of these globs. Without globs, none matches."""
    joined = "|".join(translate(pattern) for pattern in patterns)
    return re.compile(joined or r"(?!)", re.DOTALL).match


is_interpreter = one_of(INTERPRETERS)
names_program = one_of(GIT_SETTINGS)
_hijacking, _harmless = one_of(HIJACK_VARIABLES), one_of(HARMLESS_VARIABLES)


@lru_cache(maxsize=1024)
def hijacks(variable: str) -> bool:
    """Return whether setting this variable may change what a program does, or which program a name starts."""
    return bool(_hijacking(variable)) and not _harmless(variable)


def plain_name(base: str) -> str:
    """Return a program's name in lower case and without ``.exe``, because some systems run the same program by that
    name.
    """
    return base.lower().removesuffix(".exe")
