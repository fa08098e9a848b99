"""Assesses the risk of a call that no rule rates: by the tool's name, the arguments, and the tool's MCP hints.

A name is split into words, and each word counts only as a whole: ``budget_transfer`` has the verb "transfer", but not
"get". A tool whose name has no known word is ``high``; irreversible loss is ``critical``. Arguments only raise the
level, with one exception: an argument such as ``action`` may lower an unknown tool to ``medium``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final

from hitl.cards.text import encodable
from hitl.outcomes import Because, because
from hitl.policy import values
from hitl.policy.globs import clean
from hitl.policy.model import PolicyCall
from hitl.policy.operators.scope import command_effects, disputed, shape_of
from hitl.policy.operators.text import pattern_set
from hitl.policy.operators.tool import hint
from hitl.policy.shell.effects import Effects
from hitl.policy.tables import names
from hitl.policy.tables.tools import Shape

LOW: Final = 0
MEDIUM: Final = 1
HIGH: Final = 2
CRITICAL: Final = 3

#: A risk level, and the reason for it (`hitl.outcomes.because`).
Assessment = tuple[int, str]

#: `because` for reasons with values of a call. The values repeat, and the cache takes a tenth of the time.
_because = lru_cache(maxsize=4096)(because)

_CRITICAL_VERBS = names(
    "wipe erase destroy shred obliterate nuke purge annihilate mkfs decommission deprovision "
    "incinerate expunge factoryreset"
)
_LOSING_VERBS = names("delete drop remove truncate format clear empty reset overwrite terminate flush kill rm del")
_LARGE_NOUNS = names(
    "database databases db table tables disk disks drive drives volume volumes partition partitions "
    "filesystem bucket buckets cluster clusters account accounts tenant tenants repo repository "
    "repositories backup backups snapshot snapshots all everything production prod namespace schema "
    "project projects organization org workspace vault server servers instance instances vm "
    "environment stack zone domain wallet key keys history collection index"
)
_HIGH_VERBS = names(
    "delete del remove rm rmdir unlink truncate drop kill stop shutdown reboot restart halt poweroff "
    "suspend revoke reset rollback revert uninstall install deploy publish release send post email "
    "mail sms text notify broadcast tweet message pay payout transfer refund charge buy purchase "
    "order trade sell withdraw deposit wire invest merge push execute exec run bash sh shell zsh "
    "powershell terminal console eval evaluate invoke script command cmd sudo ssh chmod chown chgrp "
    "grant deny disable enable overwrite approve reject submit sign share invite ban block unblock "
    "lock unlock encrypt decrypt clear flush cancel close archive migrate apply rotate regenerate "
    "impersonate authorize login logout book checkout subscribe unsubscribe provision scale failover "
    "promote demote evict drain cordon taint mount unmount umount format partition dd curl wget "
    "upload exfiltrate forward call dial hire fire prune gc vacuum compact restore replace trigger "
    "dispatch launch start spawn fork kick mute quarantine isolate detach abort expire invalidate "
    "unpublish undeploy empty discard deactivate activate transact settle redeem mint burn swap stake "
    "vote"
)  # fmt: skip
_MEDIUM_VERBS = names(
    "update write create modify edit set add insert append put patch save rename move copy mv cp "
    "change upsert comment tag label assign unassign schedule attach link register mark toggle pin "
    "unpin star reply react draft generate make new build store record log download import export "
    "sync refresh mkdir touch commit checkin stage stash fill click type press select navigate open "
    "scroll drag hover configure adjust increment decrement resize sort crop convert compress extract "
    "enqueue queue"
)
_LOW_VERBS = names(
    "get read list search query find fetch view show describe count lookup browse check status stat "
    "head peek inspect preview explain help ping whoami tail cat ls grep glob diff compare summarize "
    "summarise analyze analyse parse validate verify calculate compute translate retrieve lint scan "
    "monitor watch estimate suggest recommend classify detect info echo weather think ask choose "
    "filter aggregate rank score measure audit trace profile resolve decode tokenize embed rerank "
    "screenshot"
)
_NOUNS = frozenset(  # Verbs that are nouns at the end of a name, as in get_run, list_order and read_message.
    [
        "update",
        "run",
        "release",
        "order",
        "command",
        "post",
        "call",
        "comment",
        "patch",
        "commit",
        "build",
        "transfer",
        "refund",
        "charge",
        "move",
        "message",
        "email",
        "mail",
        "script",
        "label",
        "tag",
        "change",
        "log",
        "record",
        "draft",
        "link",
        "text",
        "sms",
        "share",
        "vote",
        "export",
        "import",
        "trade",
        "deposit",
        "purchase",
        "schedule",
        "branch",
        "merge",
        "push",
        "deploy",
        "migration",
        "mount",
        "lock",
        "block",
        "key",
        "sign",
        "status",
        "head",
        "shell",
        "terminal",
        "console",
        "swap",
        "stake",
        "report",
        "query",
        "search",
        "list",
        "view",
        "check",
        "count",
        "test",
        "plan",
        "snapshot",
        "set",
        "copy",
        "type",
        "sort",
        "queue",
        "store",
        "start",
        "stop",
        "close",
        "new",
    ]
)
_ATTRIBUTES = names(
    "last first next current latest modified created updated deleted removed changed accessed added "
    "total max min average mean size count time date name names length version id ids type types "
    "status state info metadata health uptime timestamp at by of the is has"
)
_JOINS = names("and or then")
_VERB_ARGUMENTS = frozenset(
    variant
    for name in names(
        "action operation op method verb http_method httpMethod request_method requestMethod operation_type "
        "operationType action_type actionType"
    )
    for variant in (name, name.capitalize(), name.upper())
)
_METHODS = {
    "get": LOW,
    "head": LOW,
    "options": LOW,
    "post": MEDIUM,
    "put": MEDIUM,
    "patch": MEDIUM,
    "delete": HIGH,
}

#: Expressions for options of `rm` (POSIX.1-2024, and GNU's long names): `_FLAGS` matches any options, `_RECURSE` one
#: recursive option, and `_FORCE` one option that forces the removal.
_FLAGS = r"(?:-\S+\s+)*"
_RECURSE = r"(?:-\w*[rR]\w*|--recursive)"
_FORCE = r"(?:-\w*f\w*|--force)"
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+")
_SEGMENT = re.compile(r"__|[./:]")

#: Commands that destroy infrastructure, cloud resources, or stored data.
_LOST: Final = (
    r"(?:^|[\s;&|(/])(?:terraform|tofu|terragrunt|pulumi|cdk|sam|serverless|eksctl|vagrant)\s+(?:\S+\s+)*?"
    r"(?:destroy|delete|remove)\b"
    r"|\bkubectl\s+(?:\S+\s+)*?delete\s+(?:\S+\s+)*?"
    r"(?:namespaces?|ns|nodes?|pvc?|crds?|persistentvolume\w*|--all)\b"
    r"|\b(?:aws|gcloud|az|doctl|heroku|flyctl|oci)\s+(?:\S+\s+)*?(?:(?:delete|destroy|terminate|rb|purge)\b"
    r"|(?:delete|terminate)-\w)"
    r"|(?:^|[\s;&|(])(?:dropdb|dropuser)\s|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b"
)

#: Commands that stop Sayso, or every process of a user. After that, nobody could answer the next requests.
_STOPS: Final = (
    r"(?:^|[\s;&|(/'\"])(?:"
    r"(?:pkill|killall|skill|kill)\s[^\n;]*\bsayso"
    r"|(?:systemctl|service|rc-service|supervisorctl|launchctl|docker|docker-compose|podman|nerdctl|kubectl|oc|helm|fly"
    r"|flyctl|pm2|monit)\s(?:[^\n;&|]*\s)?(?:stop|kill|rm|down|pause|restart|disable|mask|unload|bootout|remove|delete"
    r"|scale|uninstall|destroy)\s[^\n;&|]*\bsayso"
    r"|service\s+sayso\S*\s+(?:stop|restart)"
    r"|(?:pgrep|pidof|ps)\s[^\n;]*\bsayso[^\n;]*\|\s*xargs\s[^\n;]*\bkill"
    r"|killall5\s+\S+|kill\s+(?:-\S+\s+)+-1)(?:[\s;&|)'\".@/-]|$)"
)

_PATTERNS: tuple[tuple[str, int, Because], ...] = (
    (
        (
            r"(?i)(?:^|;)\s*(?:drop\s+(?:table|database|schema|view|index|user|role|tablespace)"
            r"|truncate(?:\s+table)?\s+\w)"
        ),
        CRITICAL,
        Because.ARGUMENT_DROPS,
    ),
    (r"(?i)(?:^|;)\s*delete\s+from\s+[\w.\"`\[\]]+\s*(?:;|$)", CRITICAL, Because.ARGUMENT_EVERY_ROW),
    (r"(?i)(?:^|;)\s*(?:delete\s+from|alter\s+\w|grant\s+\w|revoke\s+\w)", HIGH, Because.ARGUMENT_CHANGES_DATA),
    (
        r"(?i)(?:^|;)\s*(?:update\s+[\w.\"`\[\]]+\s+set|insert\s+into|merge\s+into|replace\s+into|create\s+\w)\b",
        MEDIUM,
        Because.ARGUMENT_WRITES_DATA,
    ),
    (
        (
            rf"(?:^|[\s;&|(])rm\s+{_FLAGS}(?:-\w*(?:[rR]\w*f|f\w*[rR])\w*|{_RECURSE}\s+{_FLAGS}{_FORCE}"
            rf"|{_FORCE}\s+{_FLAGS}{_RECURSE})\s+{_FLAGS}(?:/|~|\*|\$HOME|\.\.?)(?:[\s/*;&|]|$)"
        ),
        CRITICAL,
        Because.ARGUMENT_FOLDERS,
    ),
    (r"(?:^|[\s;&|(])(?:mkfs(?:\.\w+)?|wipefs|shred|fdisk)\s", CRITICAL, Because.ARGUMENT_ERASES),
    (r"\bof=/dev/(?:sd|nvme|hd|vd|xvd|mmcblk|disk)", CRITICAL, Because.ARGUMENT_DISK),
    (_LOST, CRITICAL, Because.ARGUMENT_DESTROYS),
    (_STOPS, CRITICAL, Because.ARGUMENT_STOPS),
    (
        r"(?:^|\s)(?:--force\S*|--hard|--no-preserve-root|--purge|--delete|--no-verify)(?:\s|=|$)",
        HIGH,
        Because.ARGUMENT_FORCED,
    ),
    (r"(?:^|\s)-[a-zA-Z]*(?:rf|fr|Rf|fR)[a-zA-Z]*(?:\s|$)|\brm\s+(?:-\S+\s+)*-f\b", HIGH, Because.ARGUMENT_FORCED),
)
_MAX_VERB = 64
_MAX_PATH = 4096
#: The first four characters of each path that `_SYSTEM` matches, except paths with a drive letter.
_ROOTS = frozenset(("/etc", "/boo", "/usr", "/bin", "/sbi", "/lib", "/sys", "/pro", "/roo", "/var", "/dev"))
_COMMANDS = names("command cmd")
#: The assessment reads at most this many values of one argument, and this many arguments. If a call has more, its risk
#: is at least high.
_MOST_VALUES = 2_000
#: The assessment reads at most this many characters of an argument.
_MOST_READ = 100_000
# The SQL statements in `_PATTERNS` begin with one of these characters.
_STATEMENTS = frozenset("dDtTaAgGrRuUiImMcC \t\n")
#: Finds the words `rm` and `rb` (`aws s3 rb` removes a bucket). The expression begins with a letter and not with `\b`,
#: which halves the search time.
_removes = re.compile(r"r(?<!\wr)[bm]\b").search
_erases = re.compile(r"rf|fr|Rf|fR|mkfs|wipefs|fdisk |of=/dev/").search


def tokens(name: str) -> tuple[str, ...]:
    """Split a tool name into lower-case words, at underscores, dots, digits and capital letters."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=4096)
def assess_name(tool: str) -> tuple[int, str, bool]:
    """Return the risk level of a tool by its name alone, the reason, and whether a word of the name is known."""
    last = _SEGMENT.split(tool)[-1]
    found = _assess_words(tokens(last))
    if not found[2] and last != tool:
        found = _assess_words(tokens(tool))
    return found


def _assess_words(words: tuple[str, ...]) -> tuple[int, str, bool]:
    if not words:
        return HIGH, because(Because.NAME_NOTHING), False
    if words[0] in _LOW_VERBS and not _JOINS & set(words) and not _acts(words[-1], words):
        return LOW, because(Because.WORD_READS, repr(words[0])), True
    acting = [(level, word) for word in words if (level := _verb(word) or LOW) > LOW]
    return _acting(max(acting, key=lambda pair: pair[0]), words) if acting else _not_acting(words)


def _acting(strongest: tuple[int, str], words: tuple[str, ...]) -> tuple[int, str, bool]:
    level, word = strongest
    lost = [word for word in words if word in _LOSING_VERBS]
    large = [word for word in words if word in _LARGE_NOUNS]
    if level < CRITICAL and lost and large:
        return CRITICAL, because(Because.WORD_LOSES, repr(lost[0]), repr(large[0])), True
    return level, because(_BY_WORD[level], repr(word)), True


def _not_acting(words: tuple[str, ...]) -> tuple[int, str, bool]:
    reading = [word for word in words if word in _LOW_VERBS]
    if reading:
        return LOW, because(Because.WORD_READS, repr(reading[0])), True
    if set(words) <= _ATTRIBUTES:
        return LOW, because(Because.NAME_PROPERTY), True
    return HIGH, because(Because.TOOL_UNKNOWN), False


def _acts(word: str, words: tuple[str, ...]) -> bool:
    """Return whether a tool's name ends in a verb that changes something, as ``list_delete`` does.

    The caller has checked that the first word is a verb for reading.
    """
    return len(words) > 1 and (_verb(word) or LOW) > LOW and word not in _NOUNS


#: The reason for a risk level that comes from a word of the tool's name.
_BY_WORD = {
    LOW: Because.WORD_READS,
    MEDIUM: Because.WORD_CHANGES,
    HIGH: Because.WORD_ACTS,
    CRITICAL: Because.WORD_FINAL,
}


def _verb(word: str) -> int | None:
    if word in _CRITICAL_VERBS:
        return CRITICAL
    if word in _HIGH_VERBS:
        return HIGH
    return MEDIUM if word in _MEDIUM_VERBS else LOW if word in _LOW_VERBS else None


#: Kind of tool -> risk level and reason, which apply if the arguments show nothing worse.
_KINDS: Final[Mapping[str, tuple[int, str]]] = {
    **dict.fromkeys(("read", "list", "search", "get", "web_search", "note"), (LOW, because(Because.TOOL_READS))),
    **dict.fromkeys(("write", "edit", "mkdir", "copy", "move"), (MEDIUM, because(Because.TOOL_CHANGES))),
    "delete": (HIGH, because(Because.TOOL_DELETES)),
    "command": (HIGH, because(Because.COMMAND_UNKNOWN)),
}
_EFFECTS: Final[Mapping[str, int]] = {
    "read": LOW, "query": LOW, "write": MEDIUM, "build": MEDIUM, "connect": HIGH, "delete": HIGH,
}  # fmt: skip
_LOOKS: Final = frozenset(("read", "query"))
#: Matches folders and devices of the operating system (Filesystem Hierarchy Standard 3.0), where a change is critical.
_SYSTEM = re.compile(
    r"/(?:etc|boot|usr|bin|sbin|lib|lib32|lib64|sys|proc|root|var/lib|var/spool|Library|System)(?:/|$)"
    r"|/dev/(?:sd|nvme|hd|vd|xvd|mmcblk|disk|mem|kmem)"
    r"|[a-z]:[\\/]+(?:windows|program files)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Named:
    """The assessment of a tool without arguments.

    It has the tool's entry in the table of tools, the risk level, the reason, and whether the level comes from a known
    word or kind.
    """

    shape: Shape | None
    level: int
    why: str
    known: bool


def assess_tool(call: PolicyCall) -> Named:
    """Return the assessment of the call's tool without its arguments."""
    shape = shape_of(call)
    found = None if shape is None else _KINDS.get(shape.kind)
    return Named(shape, *found, known=True) if found is not None else Named(shape, *assess_name(call.tool))


def assess(call: PolicyCall, named: Named | None = None) -> Assessment:
    """Return the risk level of a call, and a short reason for people.

    A command is assessed by the line that will run, not by the name of the tool. ``named`` is the result of
    ``assess_tool`` for this call, if the caller has it already.
    """
    if named is None:
        named = assess_tool(call)
    shape, level, why, known = named.shape, named.level, named.why, named.known
    if shape is not None and shape.kind == "command":
        return _assess_command(call)
    if call.annotations is not None:
        level, why, known = _hinted(call, shape, (level, why, known))
    args = call.args
    if not args or level == CRITICAL:
        return level, why
    if not _VERB_ARGUMENTS.isdisjoint(args):
        found = _named_action(args)
        if found is not None and (found[0] > level or not known):
            level, why = max(found[0], MEDIUM), found[1]
    if shape is not None and level != LOW:
        changed = next((path for path in _texts(args, shape.writes) if _is_system(path)), None)
        if changed is not None:
            return CRITICAL, _changes(Because.TOOL_SYSTEM, changed)
    return _from_arguments(args, level, why, any_path=shape is None and level != LOW)


def _texts(args: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Yield the texts in the named arguments, at any depth."""
    for name in names:
        for leaf in values.leaves(args.get(name), most=_MOST_VALUES):
            if isinstance(leaf, str):
                yield leaf


def _changes(what: Because, path: str) -> str:
    return _because(what, encodable(path[:60]))


def _is_system(text: str) -> bool:
    """Return whether a path is in a folder of the operating system, even if written as `/tmp/../etc` or `//etc`."""
    if "/." in text or "//" in text or text[:1].isspace():
        text = clean(text[:_MAX_PATH].strip())
    return (text[:4].lower() in _ROOTS or ":" in text) and _SYSTEM.match(text) is not None


def _assess_command(call: PolicyCall) -> Assessment:
    """Return the risk level of a command and the reason.

    If the table of programs covers the whole line, the line's effects give the level. Otherwise the level is at least
    high.
    """
    found = command_effects(call)
    if not isinstance(found, Effects):
        level, why = _KINDS["command"]
        return _from_arguments(call.args, level, why)
    level, why = _EFFECTS[found.strongest], _because(Because.COMMAND, found.says)
    changed = next((use.path for use in found.uses if use.how == "write" and _is_system(use.path)), None)
    if changed is not None:
        return CRITICAL, _changes(Because.COMMAND_SYSTEM, changed)
    if found.does <= _LOOKS:
        beside = {name: value for name, value in call.args.items() if name not in _COMMANDS}
        return _from_arguments(beside, level, why)
    return _from_arguments(call.args, level, why)


def _from_arguments(args: Mapping[str, Any], level: int, why: str, *, any_path: bool = False) -> Assessment:
    """Return the level and reason, or a higher level if the arguments show more harm.

    With ``any_path``, any text may name a file that the tool changes.
    """
    found: Assessment | None = None
    if "command" in args and (line := _in_words(args)) and _suspect(line):
        found = _matched(line, level, None)
    if len(args) > _MOST_VALUES:
        args = dict(islice(args.items(), _MOST_VALUES))
        if level < HIGH:
            level, why = HIGH, because(Because.MANY_ARGUMENTS)
    for value in args.values():
        if type(value) is str:
            # A path of the system begins with a sign or holds a colon. This quick test saves most calls of
            # `_is_system`.
            if any_path and (not value[:1].isalnum() or ":" in value) and _is_system(value):
                return CRITICAL, _changes(Because.TOOL_SYSTEM, value)
            if ("-" in value or " " in value) and _suspect(value):
                found = _matched(value, level, found)
        elif type(value) not in values.SCALARS:
            found = _inside(value, level, found, any_path=any_path)
    return found or (level, why)


def _hinted(call: PolicyCall, shape: Shape | None, named: tuple[int, str, bool]) -> tuple[int, str, bool]:
    """Return the assessment of a tool's name (level, reason, known) after the tool's MCP hints.

    A trusted read-only hint lowers the level of a tool with an unknown name; all other hints only raise the level. For
    a tool in the table of tools, hints count only if they contradict the table.
    """
    level, why, known = named
    if disputed(call):
        level, why = max(level, MEDIUM), because(Because.SERVER_CHANGES)
    elif shape is not None and shape.kind in _KINDS:
        return named
    _, read_only = hint(call, "readOnlyHint")
    claimed, destructive = hint(call, "destructiveHint")
    if read_only:
        return (level, why, known) if known else (LOW, because(Because.SERVER_READS), True)
    given = "destructiveHint" in (call.annotations or {})
    if level < HIGH and given and claimed:
        return HIGH, because(Because.SERVER_DESTROYS), known
    if level == MEDIUM and destructive:
        return HIGH, because(Because.SERVER_SILENT), known
    return level, why, known


def _named_action(args: Mapping[str, Any]) -> Assessment | None:
    for key, value in args.items():
        if key not in _VERB_ARGUMENTS:
            continue
        if isinstance(value, str) and len(value) <= _MAX_VERB:
            word = value.strip().lower()
            level = _METHODS.get(word) if "method" in key.lower() else None
            if level is None:
                level, _, known = _assess_words(tokens(value))
                if not known:
                    continue
            return level, _because(Because.ARGUMENT, repr(key), repr(word))
    return None


def _inside(value: Any, level: int, found: Assessment | None, *, any_path: bool) -> Assessment | None:
    if isinstance(value, list | tuple | Mapping):
        for leaf in values.leaves(value, most=_MOST_VALUES):
            if any_path and type(leaf) is str and _is_system(leaf):
                found = CRITICAL, _changes(Because.TOOL_SYSTEM, leaf)
            elif type(leaf) is str and _suspect(leaf):
                found = _matched(leaf, level, found)
            elif leaf is values.CUT and (found[0] if found else level) < HIGH:
                found = HIGH, because(Because.MANY_VALUES)
    return found


def _in_words(args: Mapping[str, Any]) -> str:
    """Return a command as one line if it is a list or has its arguments in ``args``. Return '' for other commands."""
    command = args.get("command")
    if command is None or (type(command) is str and "args" not in args):
        return ""
    return " ".join(str(word) for value in (command, args.get("args")) for word in _listed(value)[:_MOST_VALUES])


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else () if value is None else (value,)


def _suspect(text: str) -> bool:
    """Return False if none of `_PATTERNS` can match the text.

    This quick check runs on most text arguments. It saves most RE2 searches.
    """
    if "--" in text or ("f" in text and _erases(text) is not None):
        return True
    return " " in text and (text[0] in _STATEMENTS or ";" in text or "shred " in text or _loses(text))


def _loses(text: str) -> bool:
    """Return False if the text has none of the words that `_LOST` and `_STOPS` look for.

    A search for one plain word takes a tenth of the time of a search for an expression with all words.
    """
    return (
        "delet" in text
        or "remov" in text
        or "destro" in text
        or "terminat" in text
        or "prun" in text
        or "purg" in text
        or "drop" in text
        or "kill" in text
        or "sayso" in text
        or (("rm" in text or "rb" in text) and _removes(text, 0, _MOST_READ) is not None)
    )


@cache
def _search() -> Callable[[str], list[int] | None]:
    """Return a function that searches a text for all `_PATTERNS` together, and returns the indexes of those that match.

    It uses RE2, whose time grows only linearly with the text. With Python's ``re``, an agent could send a text that
    takes very long.
    """
    return pattern_set([pattern for pattern, _, _ in _PATTERNS])


def _matched(text: str, level: int, found: Assessment | None) -> Assessment | None:
    for at in sorted(_search()(encodable(text[:_MOST_READ])) or ()):
        _, raised, why = _PATTERNS[at]
        if raised > (found[0] if found else level):
            found = raised, str(why)
    return found
