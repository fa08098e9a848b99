"""All sentences of the client itself. Other sentences for people come from the service, in its answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # errors of the connection to the service
    "reach.none": "No service answers on {path} ({error}). Start it with `sayso run`, or name its socket with --socket or SAYSO_SOCKET. Nothing was done.",
    "reach.foreign": (
        "{folder} belongs to another user, in a folder where anybody can make one. What answers there may not be the service."
        " Set `runtime` to a folder that only its user can make; nothing was done."
    ),
    "reach.broken": "The service on {path} broke off. What it had recorded is kept.",
    "relay.none": "No MCP gateway answers on {path} ({error}). Add [mcp] to the settings, and start `sayso run`; nothing was done.",
    "reach.lost": "The service can't be reached ({error}). Nothing ran.",
    "reach.again": "No service answers at {where} ({error}). This client tries again for {seconds} seconds. If the service doesn't run, start it with `sayso run`.",
    "reach.tried": "The client tried {where}. Start the service with `sayso run`, or write the socket that `sayso doctor` names in its line `service`.",
    "reach.away": "No service answers at {path} ({error}). Check the address, and that the service runs; nothing was done.",
    "reach.odd": "What answered (HTTP status {status}) isn't the service. Nothing ran.",
    # errors of the client's configuration
    "configuration.none": "No service is known: {file} names none, and there is no socket at {socket}. Start the service with `sayso run`, or name its socket with SAYSO_SOCKET. For a service on another machine, write `url` and `token_file` into {file}.",
    "configuration.url": "The address of {url} isn't one of a service: write https://HOST or https://HOST:PORT.",
    "configuration.clear": "A token for {url} would cross the network in the clear. Use https.",
    "configuration.unreadable": "{file} can't be read ({error}).",
    "configuration.unknown": "{file} has the unknown key {key}. It takes {keys}.",
    "configuration.foreign": "Other users can use {file}. Run: chmod 600 {file}",
    # reasons why a call can't be asked for or must not run
    "arguments.json": "The argument {name} is of type {kind}, which can't be shown as JSON exactly. Pass text, or name it in `context` if it isn't part of the call. Nothing ran.",
    "arguments.files": "An argument has the name {name}, under which hashes of files are shown. Give it another name.",
    "arguments.file": "The file {name} can't be read ({error}). Nothing ran.",
    "arguments.path": "The argument {name} must be a path, or a list of paths, as text.",
    "arguments.twice": "A keyword has the name of the parameter {name}, so people would see only one of the two values. Rename the parameter. Nothing ran.",
    "arguments.batch": "A batch takes at most {most} calls, and this one has {count}.",
    "gated.parameter": "{function} has no parameter {name}.",
    "unfit.args": "What was approved isn't what {tool} was about to run with. Nothing ran.",
    "unfit.file": "{name} changed after it was shown. Nothing ran. Ask again if the call is still wanted.",
    "unfit.interrupted": "The program that asked was interrupted before {tool} ran. Nothing ran.",
    "run.unreported": "{ref} ran, but the service didn't record how it ended ({error}). It will record that the result is unknown.",
    # an adapter of an agent framework
    "extra.missing": "{module} isn't installed. Run: pip install 'sayso-client[{extra}]'",
    "framework.arguments": "The arguments of {tool} don't fit ({error}). Nothing ran.",
    "framework.unstable": "The arguments of {tool} change each time they are read, so nobody can approve them. Nothing ran.",
    "framework.changed": "The arguments of {tool} changed while people were asked. Nothing ran.",
    "framework.client": "{method} needs the client {client}.",
    "framework.ungated": "The gate can't hold {name}: it runs where this program can't stop it. Leave it out, or name it in `ungated`.",
    "framework.handoff": "The gate can't look into the handoff {name}. Hand over to an agent itself.",
    "framework.key": "`parks` needs a checkpointer and a thread_id, so that the call is found again.",
    # a hook of a coding agent
    "hook.odd": "Sayso doesn't understand what {host} asks ({what}), so the call must not run.",
    "hook.failed": "The gate failed ({error}), so the call must not run.",
    "hook.foreign": "The service on the socket isn't run by the user with id {uid}, so its answer doesn't count.",
    "hook.note": "{host}, project {project}, session {session}{inside}. Files may change before it runs.",
    "hook.note.inside": ", sub-agent {agent}",
    "hook.windows": "sayso-hooks doesn't work on Windows: it can't check there who may change a hook. Use it in WSL. Nothing was written.",
    "hook.unread": "Nobody reads the answer any more, so the call must not run.",
    "hook.unable": "Sayso couldn't be asked, so the call must not run. A person finds out why with `sayso doctor`.",
    "hook.no_answer": "The gate gave no answer, so the tool must not run.",
    "hook.settings": "{file} can't be read ({error}). Nothing was written.",
    "hook.no_host": "{program} isn't on the PATH, so its version can't be checked. Add --untested to install anyway.",
    "hook.old_host": "{program} {version} is older than {tried}, with which the hook was tried: it may run a tool when a hook fails. Update it, or add --untested.",
    "hook.absent": "{file} has no hook of ours, so its host asks nobody. Run: sayso-hooks install {host}. If you want none, run: sayso-hooks remove {host}",
    "hook.open": "The agent's user {user} can change {paths}. So the hook protects against mistakes, not against an agent that wants out.",
    "hook.open.apart": "The agent's user {user} can change {paths}, and so switch the hook off, although the service runs as another user.",
    "hook.close.managed": "To prevent that, install the hook as root with --managed, with a Python that only root can change.",
    "hook.close.own": "To prevent that, let root own these files and their folders. A folder in which the agent must write may be root's with the mode 1777.",
    "hook.open.anybody": "Everybody can change {paths}, and so switch the hook off. Take that right away: chmod o-w.",
    "hook.open.more": "and {count} more",
    "hook.sound": "The installed command runs, and the right service answers it.",
    "hook.reached": "Sayso looked whether this hook works. This is no tool call, so nothing runs.",
    "hook.scope": "The token's scope isn't `agent`, so it may not ask. Make one: sayso token create NAME --scope agent",
    "hook.unreached": "The installed command can't ask, so every tool call is blocked: {why}",
    "hook.unlisted": "The installed command reaches the service, which refuses the user who runs this check: {why}",
    "hook.unsound": "The installed command doesn't answer as it should, so every tool call is blocked. Install it again.",
    "hook.off": "`{switch}` in {file} lets {host} run tools without asking the hook. Change this setting back, or install the hook again.",
    "hook.refused": "`{switch}` in {file} lets {host} run tools without asking the hook. Change this setting first. Nothing was written.",
    "hook.changed": "The hook in {file} isn't as this version of Sayso writes it, so {host} may run tools without an answer. Install it again.",
    "hook.capped": "{host} takes a wait of at most {longest} seconds, so the hook waits that long.",
    "hook.clear": "Over http: a hook can't know who answers. Use https:, or --socket for a service on this machine.",
    "hook.unmanaged": "No settings of {host} are known that only root can change. Leave --managed out. Nothing was written.",
    "hook.removed": "Removed from {file}.",
    "hook.installed": "Installed in {file}.",
    "hook.backup": " The file as it was: {backup}",
    "hook.unchanged": "{file} stays as it is.",
    "hook.unwritten": "{file} can't be written ({error}). Nothing was changed.",
    "hook.unasked": "Nothing was written: there is no terminal to ask on. Add --yes.",
    "hook.ask": "Write {file}? [y/N] ",
    "hook.left": "{file} was left as it is.",
    "hook.wait": "--wait takes at least {least} seconds.",
    "hook.token": "--url needs --token-file.",
    "hook.socket": "Name the service: --socket PATH, or --url ADDRESS with --token-file.",
    "hook.no_socket": "The socket {path} can't be found ({error}). Start the service first, or give its user with --uid.",
    "hook.then.claude": "Claude Code re-reads its settings, so a script that it may run can switch the hook off: --managed prevents that. Files named with @ and shell lines in commands and skills reach no hook: set disableSkillShellExecution.",
    "hook.then.codex": 'Codex skips hooks that nobody has trusted. Start codex now: at "Hooks need review" choose "Trust all and continue".',
    "hook.codex.untrusted": 'Nobody has trusted the hook in {file}, so Codex runs tools without asking it. Start codex: at "Hooks need review" choose "Trust all and continue". Then check again.',
    "hook.codex.changed": 'The hook in {file} has changed since somebody trusted it, so Codex runs tools without asking it. Start codex: at "Hooks need review" choose "Trust all and continue". Then check again.',
    "hook.codex.disabled": "Somebody switched the hook in {file} off, so Codex runs tools without asking it. Start codex, type /hooks, and switch the hook under PreToolUse on. Then check again.",
    "hook.then.openclaw": "`openclaw agent exec` loads no plugin and asks nobody: don't let it run where the gate must hold. Start a running Gateway again.",
    "hook.then.opencode": "OpenCode's server takes answers from any program on this machine: set OPENCODE_SERVER_PASSWORD. `permission` of a project, OPENCODE_PERMISSION and --pure with --auto are stronger than these settings: set OPENCODE_DISABLE_PROJECT_CONFIG=1.",
    # a command on the caller's machine
    "command.not_started": "{program} can't be run in {folder}: {error}",
    "command.changed": "{path} has changed since it was shown. Nothing was run; ask again.",
    "command.otherwise": "The service on the socket gave out another command than was asked for. Nothing was run.",
    "command.unreported": "{short} ran and ended with status {status}, but the service can't be reached to record that. It will record that the result is unknown.",
    "command.taken": "{short} was approved, and another waiter got the approval, which is good for one run. Nothing was run here.",
    "command.waits": "{short} is pending until {until} UTC. Who may approve: {approvers}.",
    "command.unseen": "The card of {short} can't be shown in {route}: {why}. It waits for answers from elsewhere.",
    "command.withdraws": "{waits} Ctrl-C withdraws it.",
    "command.stays": "{waits} Ctrl-C ends only this wait.",
    "command.more": "{names} and {count} more",
    "command.nobody": "nobody",
    "command.decided": "{short}: {outcome}.",
    "command.running": "{short}: running, approved by {by}.",
    "command.lost": "{why} This command tries again for {seconds} seconds.",
    "command.left": "{short} is still pending. To wait again, repeat this command.",
    "command.interrupted": "Interrupted.",
    "ask.args": "--args isn't JSON: {error}",
    "ask.object": "--args must be a JSON object",
    "ask.scripts": "the command names more than 200 files that it runs, so they can't be bound to an approval; ask for fewer at a time",
    "ask.taken": "--args can't hold {names} beside a command",
    "ask.timeout": "--timeout {text} isn't a time; write 90s, 5m, 2h or 1d",
    "ask.shorter": "People have {given} to answer {short}, not {wanted}: the policy allows no more. `timeout_s` in the policy sets it.",
    "ask.token": "--url and --token-file belong together, and --ca-file needs them.",
    "ask.both": "--url names a service, so leave out --socket and --config.",
    "ask.unwritable": "The outcome can't be written to {file}: {error}. Nothing was asked.",
    "ask.outcome": "{file} can't be written: {error}",
    "command.status": "exit status {status}",
}


def say(key: str, /, **facts: object) -> str:
    """Return the sentence with this key. `facts` are the values of its placeholders.

    Raises KeyError if the key or a value is missing. A test finds such errors.
    """
    return ENGLISH[key].format(**facts)
