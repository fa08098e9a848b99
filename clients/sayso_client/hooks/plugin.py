"""Makes the programs of the plugins for hosts that load JavaScript.

A host runs every tool if it can't load its plugin, so a plugin is one file without imports of ours. It begins with
`plugin.js`, the part that all plugins share. The host's own part follows.
"""

from __future__ import annotations


def program(own: str, command: str, wait_s: int) -> str:
    """Return the program of a plugin that runs `command` for each call, for at most `wait_s` seconds.

    `own` is the path of the host's own part, from this folder.
    """
    import json
    from pathlib import Path

    from sayso_client.wording import say

    folder = Path(__file__).parent
    whole = "\n".join((folder / part).read_text("utf-8") for part in ("plugin.js", own))
    told = {'"@LINE@"': json.dumps(command), "@LIMIT@": str(wait_s * 1000)}
    told['"@NO_ANSWER@"'] = json.dumps(say("hook.no_answer"))
    for name, value in told.items():
        whole = whole.replace(name, value)
    return whole
