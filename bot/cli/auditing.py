"""`history`, `audit` and `stats`: show, verify and summarise the record."""

from __future__ import annotations

import json as json_
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import AsJson, Config, Since, fail, folded, kept_files, moment, print_json, settings
from bot.wording import say
from hitl.cards.wording import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.settings import Settings
    from hitl.history import RecordQuery


class Format(StrEnum):
    """The formats of `audit export`."""

    JSONL = "jsonl"
    CSV = "csv"


#: The columns of `audit export --format csv`, in this order. A line of the record has more fields; only the JSON format
#: exports them.
_CSV = (
    *("timestamp", "event_type", "event", "correlation_id", "short", "decision", "status", "risk_level"),
    *("tool", "params", "user", "requester", "agent", "surface", "origin", "reason", "timeout_seconds"),
    *("rule", "digest", "policies", "pressed_at", "hash", "flaws", "archived", "args_erased_at"),
)
#: A spreadsheet takes a cell that begins with one of these for a formula. A person's or agent's text could thus run a
#: formula, so the CSV puts an apostrophe before such a cell.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: The rankings of tools that `stats` prints -> the names of their titles in the catalogue of sentences.
_RANKINGS = {"most_denied": "stats.most_denied", "most_expired": "stats.most_expired", "slowest": "stats.slowest"}
#: `stats` prints at most this many lines of one group. The JSON output of `stats` has all lines.
_MOST_ROWS = 20
#: The groups of numbers that `stats` prints -> the names of their titles in the catalogue of sentences.
_GROUPS = {
    "by_tool": "stats.by_tool",
    "by_rule": "stats.by_rule",
    "by_requester": "stats.by_requester",
    "by_approver": "stats.by_approver",
}

Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before then.")]
Events = Annotated[
    list[str] | None, typer.Option("--event", "--event-type", help="An event, or a kind of them (hitl_decision).")
]
Statuses = Annotated[list[str] | None, typer.Option("--status", help="How the request stands now.")]
Risks = Annotated[list[str] | None, typer.Option("--risk", help="low, medium, high or critical.")]
Tools = Annotated[list[str] | None, typer.Option("--tool", help="The tool of the request.")]
People = Annotated[list[str] | None, typer.Option("--person", help="Who did it or requested it.")]
Surfaces = Annotated[
    list[str] | None, typer.Option("--surface", help="Where it was asked or answered: local, http, telegram or slack.")
]
Text = Annotated[str, typer.Option("--text", help="Any part of what is told; masked secrets aren't found.")]


def register(app: typer.Typer) -> None:
    """Add the command group `audit`, and the commands `history` and `stats`."""
    group = typer.Typer(help="The record of all that was asked, decided and run.", no_args_is_help=True)
    for command in (verify, query, export):
        group.command()(command)
    app.add_typer(group, name="audit")
    app.command()(history)
    app.command()(stats)


def history(
    status: Statuses = None,
    risk: Risks = None,
    tool: Tools = None,
    person: Annotated[list[str] | None, typer.Option("--person", help="Who requested or decided it.")] = None,
    surface: Annotated[
        list[str] | None, typer.Option("--surface", help="Where it was asked: local, http, telegram or slack.")
    ] = None,
    since: Since = None,
    until: Until = None,
    text: Text = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many requests, the newest.")] = 50,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """List requests and their outcomes, the newest first.

    An option may be given several times: `--risk high --risk critical` lists requests of either risk. A request is
    listed only if it fits every kind of option. The command reads the database itself, so run it as the service's user.
    It changes nothing.

    Example: sayso history --since 24h --status rejected
    """
    from bot.database import surveyed
    from bot.names import names_of

    found = settings(config)
    database, keys, _ = kept_files(found)
    asked = _asked(found, None, status, risk, tool, person, surface, since, until, text)
    with surveyed(database) as survey:
        shown = list(survey.requests(keys, asked, limit=limit, names=names_of(found.directory())))
    if json:
        print_json(shown)
        return
    for each in shown:
        # A request that can't be read has no status, tool or risk to print. The warning below names the request.
        if "status" in each:
            typer.echo(folded(request_in_a_row(each), hang=2))
    _warn(shown)
    if not shown:
        typer.echo(f"{say('audit.none')} {found.whence()}", err=True)


def verify(config: Config = None, json: AsJson = False) -> None:
    """Verify that nobody changed the record.

    It names each request, each vote and each line of the record that was changed, removed or inserted, and then exits
    with 1. It also counts the requests that retention archived and those whose arguments it erased. These are no
    faults. It reads the database itself, so run it as the service's user. It changes nothing.

    Example: sayso audit verify
    """
    from bot.database import surveyed

    database, keys, mark = kept_files(settings(config))
    # The mark is read first: a running service may write a later mark while the record is read.
    marked = mark.read()
    with surveyed(database) as survey:
        examined = survey.examine(keys, marked)
    if json:
        flaws = [{"what": flaw.what, **flaw.particulars, "text": sentence(flaw)} for flaw in examined.flaws]
        counts = {name: getattr(examined, name) for name in ("lines", "calls", "archived", "erased", "marked")}
        print_json(counts | {"flaws": flaws})
    else:
        whole = say("audit.whole", lines=examined.lines, calls=examined.calls)
        typer.echo("\n".join(map(sentence, examined.flaws)) or whole)
        if examined.archived or examined.erased:
            typer.echo(say("audit.retained", archived=examined.archived, erased=examined.erased))
        typer.echo(say("audit.blind" if examined.marked else "audit.unmarked", mark=mark.path), err=True)
    if examined.flaws:
        raise typer.Exit(1)


def query(
    event: Events = None,
    status: Statuses = None,
    risk: Risks = None,
    tool: Tools = None,
    person: People = None,
    surface: Surfaces = None,
    since: Since = None,
    until: Until = None,
    text: Text = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many lines, the newest.")] = 50,
    config: Config = None,
    json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, as by audit export.")] = False,
) -> None:
    """List lines of the record, the newest first.

    An option may be given several times: `--risk high --risk critical` lists lines of either risk. A line is listed
    only if it fits every kind of option.

    Example: sayso audit query --event-type hitl_decision --status rejected --since 7d
    """
    from bot.database import surveyed

    if json and csv:
        fail(say("cli.json_or_csv"), 2)
    found = settings(config)
    database, keys, _ = kept_files(found)
    asked = _asked(found, event, status, risk, tool, person, surface, since, until, text)
    with surveyed(database) as survey:
        lines = list(survey.lines(keys, asked, newest_first=True, limit=limit))
    if json:
        print_json(lines)
        return
    if csv:
        _write_csv(lines)
    else:
        for line in lines:
            typer.echo(folded(_in_a_row(line), hang=2))
    _warn(lines)
    if not lines:
        typer.echo(f"{say('audit.none')} {found.whence()}", err=True)


def export(
    event: Events = None,
    status: Statuses = None,
    risk: Risks = None,
    tool: Tools = None,
    person: People = None,
    surface: Surfaces = None,
    since: Since = None,
    until: Until = None,
    text: Text = "",
    format_: Annotated[Format, typer.Option("--format", help="One JSON object a line, or CSV.")] = Format.JSONL,
    config: Config = None,
) -> None:
    """Export the record for another program. Secrets are masked.

    The oldest line comes first.

    Example: sayso audit export --since 2026-01-01 > record.jsonl
    """
    from bot.database import surveyed

    found = settings(config)
    database, keys, _ = kept_files(found)
    asked = _asked(found, event, status, risk, tool, person, surface, since, until, text)
    flawed: list[dict[str, Any]] = []
    with surveyed(database) as survey:
        lines = _watched(survey.lines(keys, asked), flawed)
        if format_ is Format.CSV:
            _write_csv(lines)
        else:
            for line in lines:
                sys.stdout.write(json_.dumps(line, ensure_ascii=False) + "\n")
    _warn(flawed)


def stats(since: Since = None, until: Until = None, config: Config = None, json: AsJson = False) -> None:
    """Count requests, their outcomes, and the time to decisions.

    It lists three groups of tools: those whose requests were denied most, those whose requests most often got no
    answer, and those that ran longest. It also counts approvals within 2 seconds of the request: nobody has read the
    card by then.

    Example: sayso stats --since 30d
    """
    from bot.database import surveyed

    kept = kept_files(settings(config))
    with surveyed(kept.database) as survey:
        counted = survey.statistics(moment(since, "--since"), moment(until, "--until"))
    if json:
        print_json(counted)
        return
    typer.echo(folded(_summary("", counted)))
    for name, title in _RANKINGS.items():
        if counted[name]:
            typer.echo("\n" + say(title))
        for told in counted[name]:
            typer.echo(folded(_ranked(told)))
    for name, title in _GROUPS.items():
        rows = sorted(counted[name].items(), key=lambda item: -item[1]["requests"])
        if rows:
            typer.echo("\n" + say(title))
        for key, told in rows[:_MOST_ROWS]:
            typer.echo(folded(_summary(f"  {key or '-'}: ", told)))
        if len(rows) > _MOST_ROWS:
            typer.echo(say("stats.more", more=len(rows) - _MOST_ROWS))
    _warn(counted["unreadable"])


def _asked(
    found: Settings,
    events: list[str] | None,
    statuses: list[str] | None,
    risks: list[str] | None,
    tools: list[str] | None,
    people: list[str] | None,
    surfaces: list[str] | None,
    since: str | None,
    until: str | None,
    text: str,
) -> RecordQuery:
    """Return the options as one query of the record. Exit 2 if an option has an unknown value."""
    from hitl.call import Event, Risk, Status
    from hitl.history import EVENT_TYPES, RecordQuery

    kinds = {**EVENT_TYPES, **{each.value: frozenset({each}) for each in Event}}
    named = _known(events, kinds, "--event")
    directory = found.directory()
    principals = {directory.principal(name) for name in people or ()}
    identities = {each for name in principals for each in directory.principals.get(name, ())}
    return RecordQuery(
        events=frozenset().union(*(kinds[name] for name in named)),
        statuses=_known(statuses, map(str, Status), "--status"),
        risks=_known(risks, map(str, Risk), "--risk"),
        tools=frozenset(tools or ()),
        people=frozenset(people or ()) | principals | identities,
        surfaces=_known(surfaces, directory.surfaces, "--surface"),
        since=moment(since, "--since"),
        until=moment(until, "--until"),
        text=text,
    )


def _known(given: list[str] | None, known: Iterable[str], option: str) -> frozenset[str]:
    choices = list(known)
    for value in given or ():
        if value not in choices:
            fail(say("cli.choice", option=option, value=repr(value), choices=", ".join(choices)), 2)
    return frozenset(given or ())


def _in_a_row(line: dict[str, Any]) -> str:
    from hitl.cards.text import one_line

    operation = line["operation"]
    return say(
        "audit.line",
        at=line["timestamp"][:19].replace("T", " "),
        short=line["short"] or "-",
        event=f"{line['event']:<13}",
        risk=f"{line['risk_level'] or '-':<8}",
        tool=one_line(operation["tool_name"], 40) if operation else "-",
        who=line["user"],
        reason=f"  {one_line(line['reason'], 60)}" if line["reason"] else "",
    )


def request_in_a_row(shown: dict[str, Any]) -> str:
    """Return one line of text about a request and its outcome."""
    from hitl.cards.text import one_line

    return say(
        "history.line",
        at=shown["created_at"][:19].replace("T", " "),
        short=shown["short"],
        risk=f"{shown['risk']:<8}",
        headline=shown["headline"],
        outcome=one_line(shown["outcome"], 400),
        retained=_retained(shown),
    )


def _retained(shown: dict[str, Any]) -> str:
    """Return a text that says whether retention archived a request or erased its arguments; '' if neither happened.

    `history` prints this text after the request's outcome.
    """
    at = shown["args_erased_at"]
    told = [say("retained.erased", date=at[:10])] if at else []
    return "".join(f"  {each}" for each in (*told, *([say("retained.archived")] if shown["archived"] else [])))


def _warn(lines: Iterable[dict[str, Any]]) -> None:
    """Write a warning to stderr that names the requests that fail their integrity check."""
    flawed = sorted({line["short"] or line.get("correlation_id") or "-" for line in lines if line["flaws"]})
    if flawed:
        typer.echo(say("audit.flawed", shorts=", ".join(flawed)), err=True)


def _watched(lines: Iterator[dict[str, Any]], flawed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line["flaws"]:
            flawed.append(line)
        yield line


def _write_csv(lines: Iterable[dict[str, Any]]) -> None:
    """Write lines of the record to stdout as CSV, with the names of the columns in the first row."""
    from csv import writer

    rows = writer(sys.stdout, lineterminator="\n")
    rows.writerow(_CSV)
    rows.writerows([_cell(flat[name]) for name in _CSV] for flat in map(_flat, lines))


def _flat(line: dict[str, Any]) -> dict[str, Any]:
    operation = line["operation"] or {}
    params = json_.dumps(operation["params"], ensure_ascii=False) if operation else None
    lists = {name: " ".join(line[name]) for name in ("policies", "flaws")}
    return {**line, "tool": operation.get("tool_name"), "params": params, **lists}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _summary(head: str, told: dict[str, Any]) -> str:
    """Return one line of text about a group of requests.

    It has the number of requests, of each decision, and of each result of a run, and the time until decisions.
    """
    rates = told["rates"]
    shares = (
        say("stats.share", count=count, what=name, percent=_percent(rates[name]))
        for name, count in sorted(told["decisions"].items())
    )
    decided = ", ".join(shares) or "-"
    results = ", ".join(f"{count} {name}" for name, count in sorted(told["results"].items())) or "-"
    waited = told["to_decision_s"]
    times = say("stats.times", p50=waited["p50"], p95=waited["p95"]) if waited else ""
    hasty = say("stats.hasty", hasty=told["hasty"]) if told["hasty"] else ""
    counts = say("stats.line", requests=told["requests"], decisions=decided, results=results)
    return f"{head}{counts}{times}{hasty}"


def _ranked(told: dict[str, Any]) -> str:
    """Return one line of text about a tool in a ranking of tools.

    It says how many requests for the tool were denied or got no answer, or how long the tool's runs took.
    """
    if "count" not in told:
        return say("stats.ran", tool=told["tool"], p50=told["p50"], p95=told["p95"])
    share = {"count": told["count"], "requests": told["requests"], "percent": _percent(told["rate"])}
    return say("stats.ranked", tool=told["tool"], **share)


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g}"
