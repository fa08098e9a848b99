"""The environment in which git runs no program that the files of a workspace name.

A repository's configuration names programs that git runs: monitors, hooks, pagers, editors. An agent that can write
this configuration could make any git command run any program. Settings in the environment override the configuration
files. Settings in the command line (`git -c`) override the environment, but people see them on the card. Each setting
below was tried with git 2.39: the program ran without the setting, and didn't run with it.

Some programs can't be turned off here. For most of them, the key contains a name that the repository chooses
(`diff.NAME.textconv`, `diff.NAME.command`, `filter.NAME.*`, `merge.NAME.driver`, `remote.NAME.uploadpack`,
`submodule.NAME.update`). For `diff.external`, a setting can replace the program but not unset it. The policy looks for
these keys in the repository before a command runs without asking people (`hitl.ports.Paths.repository`).
"""

from __future__ import annotations

from collections.abc import Mapping

_NOTHING = "/dev/null"
# The name of a program that always fails. If git needs an editor or a signature, its command then ends with an error.
_FAILS = "false"

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": _NOTHING,
    "core.attributesFile": _NOTHING,
    "core.pager": "cat",
    "core.editor": _FAILS,
    "sequence.editor": _FAILS,
    "core.sshCommand": "ssh",
    "core.askPass": "",
    "core.alternateRefsCommand": "true",
    # An empty value clears the whole list of credential helpers, including helpers that are set for one host:
    # gitcredentials(7).
    "credential.helper": "",
    "interactive.diffFilter": "cat",
    "protocol.ext.allow": "never",
    "gpg.program": _FAILS,
    "gpg.openpgp.program": _FAILS,
    "gpg.x509.program": _FAILS,
    "gpg.ssh.program": _FAILS,
    "gpg.ssh.defaultKeyCommand": _FAILS,
    # Every signature fails here, so git is kept from signing, even if the repository's settings ask for signatures.
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    # Background maintenance would continue after the command, and the keeper would kill it.
    "gc.auto": "0",
    "maintenance.auto": "false",
}


def _numbered(settings: Mapping[str, str]) -> dict[str, str]:
    """Return git settings as environment variables, as git-config(1) describes: `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0`,
    `GIT_CONFIG_VALUE_0` and so on.
    """
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for at, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return found


#: Variables that keep git from running programs, in a command and in every process that it starts: git(1) and
#: git-config(1), "Environment".
DISARMED: Mapping[str, str] = {
    # HOME is the workspace, so git would read a `.gitconfig` there as the user's own configuration.
    "GIT_CONFIG_GLOBAL": _NOTHING,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    # With this variable, `git status` writes nothing.
    "GIT_OPTIONAL_LOCKS": "0",
    # With this variable, a missing object is an error. To fetch the object, git would run programs that the remote's
    # settings name.
    "GIT_NO_LAZY_FETCH": "1",
    # These variables override the settings `pager.COMMAND`, which core.pager doesn't override.
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    # Only an empty GIT_PROXY_COMMAND unsets core.gitProxy.
    "GIT_PROXY_COMMAND": "",
    **_numbered(_SETTINGS),
}
