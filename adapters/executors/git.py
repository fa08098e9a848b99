"""The environment in which git runs no program that the files of a workspace name.

A repository's configuration names programs that git runs: monitors, hooks, pagers, editors. What an agent may write
there would so turn any git command into any other. Settings in the environment come after those files and win over
them; settings in the command line (`git -c`), which people see, come later still. Each setting that names a program was
tried with git 2.39: without the line below the program ran, with it the program didn't.

Some programs have names that no setting reaches, because their keys hold a name of the repository's choosing
(`diff.NAME.textconv`, `diff.NAME.command`, `filter.NAME.*`, `merge.NAME.driver`, `remote.NAME.uploadpack`,
`submodule.NAME.update`), and `diff.external` can be replaced but not unset. The policy finds these in the repository
before a command runs unasked (`hitl.ports.Paths.repository`).
"""

from __future__ import annotations

from collections.abc import Mapping

_NOTHING = "/dev/null"
# A program that fails: an editor or a signature that can't be had is an error, never an empty answer.
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
    # An empty helper empties the list, also of helpers for one host: gitcredentials(7).
    "credential.helper": "",
    "interactive.diffFilter": "cat",
    "protocol.ext.allow": "never",
    "gpg.program": _FAILS,
    "gpg.openpgp.program": _FAILS,
    "gpg.x509.program": _FAILS,
    "gpg.ssh.program": _FAILS,
    "gpg.ssh.defaultKeyCommand": _FAILS,
    # Nothing can be signed, so that nothing must be.
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    # It would go on after the command, and be killed.
    "gc.auto": "0",
    "maintenance.auto": "false",
}


def _numbered(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as git-config(1) wants them in an environment."""
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for at, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return found


#: Variables that disarm git in a command and in all that it starts. git(1) and git-config(1), "Environment".
DISARMED: Mapping[str, str] = {
    # HOME is the workspace, so that a `.gitconfig` there would be the user's.
    "GIT_CONFIG_GLOBAL": _NOTHING,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    # `git status` writes nothing.
    "GIT_OPTIONAL_LOCKS": "0",
    # An object that is missing is an error: fetching it would run what the remote's settings name.
    "GIT_NO_LAZY_FETCH": "1",
    # These win over `pager.COMMAND`, which core.pager doesn't.
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    # The only way to unset core.gitProxy.
    "GIT_PROXY_COMMAND": "",
    **_numbered(_SETTINGS),
}
