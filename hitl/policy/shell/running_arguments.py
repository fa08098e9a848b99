"""Tables of the arguments with which a program runs another program.

The data come from the programs' own manuals (coreutils, util-linux, findutils, sudo, git, kubectl, docker, ...).
"""

import re

from hitl.policy.shell.programs import one_of
from hitl.policy.shell.wrappers import SHORTEST
from hitl.policy.tables import names

# Patterns of the arguments with which compilers, ssh, and the programs in RUNNING_ARGUMENTS run another program.
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

# Long options that run no program, although RUNNING_ARGUMENTS has an option with the same beginning.
_WHOLE: dict[str, frozenset[str]] = {"pytest": names("--co"), "rg": names("--pretty --passthru")}

# Matches a setting of ssh that runs or loads a program. The setting may come after ``-o`` in the same word, or be the
# next word.
_SSH_SETTING = re.compile(
    r"(?:-\w*o)?\s*[\"']?(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|pkcs11provider"
    r"|securitykeyprovider|xauthlocation|include|match)[\s=\"']",
    re.IGNORECASE,
)

# Program whose short options may be combined (-avze) -> the letters of options that take the rest of the word as their
# value.
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

# Programs that a single argument can make run another program or delete files.
STEERED = names("find gfind fd fdfind bfs tar rsync zip scp split nc ncat netcat")

RUNS_BY_ARGUMENT = {program: one_of(patterns) for program, patterns in RUNNING_ARGUMENTS.items()}


def _clusters(program: str) -> re.Pattern[str]:
    letters = "".join(option[1] for option in RUNNING_ARGUMENTS[program] if re.match(r"-\w\*?$", option))
    return re.compile(rf"-[^-{CLUSTERED[program]}=/]*[{letters}]")


_SSH_LIKE = names("ssh autossh scp sftp rsync")
# Programs that may run another program because of a word without a hyphen. For the other programs of the table, only
# options and words with "::" (as in git's URLs) can make the program run another program.
BARE_ARGUMENTS = _SSH_LIKE | {
    program
    for program, patterns in RUNNING_ARGUMENTS.items()
    if any(not pattern.startswith(("-", "[a-z]*::")) for pattern in patterns)
}
_CLUSTERS = {program: _clusters(program) for program in CLUSTERED}


def runs_by_argument(program: str, word: str) -> bool:
    """Return whether an argument makes a program run another program.

    The argument may be written as in the table, shortened (``--to-com=``) or combined (``-avze``).
    """
    if RUNS_BY_ARGUMENT[program](word) or (program in _SSH_LIKE and _SSH_SETTING.match(word)):
        return True
    if word.startswith("--"):
        name = word.partition("=")[0]
        return (
            len(name) >= SHORTEST
            and name not in _WHOLE.get(program, ())
            and any(one.startswith(name) for one in RUNNING_ARGUMENTS[program])
        )
    return program in _CLUSTERS and _CLUSTERS[program].match(word) is not None
