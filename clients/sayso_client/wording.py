"""Every sentence of the client's own. All others come from the service, in its answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # when the service can't be spoken with
    "reach.none": "No service answers on {path} ({error}). Start it with `sayso run`, or name another with --socket; nothing was done.",
    "reach.foreign": (
        "{folder} isn't yours, and lies where anybody may make one, so whoever answers there needn't be the service."
        " Set `runtime` to a folder that only its user can make; nothing was done."
    ),
    "reach.broken": "The service on {path} broke off. What it had recorded is kept; ask again with the same key.",
    "reach.lost": "The service can't be reached ({error}). Nothing ran.",
    "reach.odd": "What answered (HTTP status {status}) isn't the service. Nothing ran.",
    # when the client isn't set up
    "configuration.none": "No address: write `url` and `token_file` into {file}, or pass them.",
    "configuration.url": "The address of {url} isn't one of a service: write https://HOST or https://HOST:PORT.",
    "configuration.clear": "A token for {url} would cross the network in the clear. Use https.",
    "configuration.unreadable": "{file} can't be read ({error}).",
    "configuration.unknown": "{file} has the unknown key {key}. It takes {keys}.",
    "configuration.foreign": "{file} can be used by other users. Run: chmod 600 {file}",
    # when a call can't be asked for, or must not run
    "arguments.json": "The argument {name} is of type {kind}, which can't be shown as JSON exactly. Pass text, or name it in `context` if it isn't part of the call. Nothing ran.",
    "arguments.files": "An argument has the name {name}, under which hashes of files are shown. Give it another name.",
    "arguments.file": "The file {name} can't be read ({error}). Nothing ran.",
    "arguments.path": "The argument {name} must be a path, or a list of paths, as text.",
    "arguments.batch": "A batch takes at most {most} calls, and this one has {count}.",
    "gated.parameter": "{function} has no parameter {name}.",
    "unfit.args": "What was approved isn't what {tool} was about to run with. Nothing ran.",
    "unfit.file": "{name} changed after it was shown. Nothing ran. Ask again if the call is still wanted.",
    # a hook of a coding agent
    "hook.odd": "Sayso doesn't understand what {host} asks ({what}), so the call must not run.",
    "hook.failed": "The gate failed ({error}), so the call must not run.",
    "hook.foreign": "The service on the socket isn't run by the user with id {uid}, so its answer doesn't count.",
    "hook.note": "In {project}. Files may change before it runs.",
    # a command on the caller's machine
    "command.not_started": "{program} can't be run in {folder}: {error}",
    "command.otherwise": "The service on the socket gave out another command than was asked for. Nothing was run.",
    "command.status": "exit status {status}",
}


def say(key: str, /, **facts: object) -> str:
    """Return the sentence of that key. Raises KeyError for a key or fact that is missing: a bug, caught by a test."""
    return ENGLISH[key].format(**facts)
