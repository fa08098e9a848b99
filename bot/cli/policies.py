"""`policy`: check, explain, test, import and compare policies."""

from __future__ import annotations

import json as json_module
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from msgspec import structs

from bot.cli.common import AsJson, Config, Since, fail, kept_files, moment, print_json, settings
from bot.wording import say
from hitl.cards.wording import IN_ENGLISH
from sayso_client.errors import why_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call
    from hitl.policy import Policy, PolicyCall, PolicyInvalid, Problem, Verdict
    from hitl.policy.backtest import LeftOut
    from hitl.policy.ports import Document

_FINDINGS = 1
_FORMATS: dict[str, Literal["yaml", "json"]] = {"json": "json", "yaml": "yaml", "yml": "yaml"}
_FOUND = {"yes": "yes", "no": "no", "unsure": "cannot tell"}


class Foreign(StrEnum):
    """Formats of other systems' policies that can be imported."""

    HAROMBE = "harombe"
    CONTENOX = "contenox"
    LARAVEL = "laravel-hitl"


class Preset(StrEnum):
    """The policies (presets) that Sayso ships."""

    DEFAULT = "default"
    STRICT = "strict"
    DEV = "dev"
    HEADLESS = "headless"
    PAYMENTS = "payments"
    EMAIL = "email"
    DATABASE = "database"


File = Annotated[Path | None, typer.Argument(help="The document; else the policy that the settings name.")]
FromPreset = Annotated[Preset | None, typer.Option("--preset", help="A preset instead of a file.")]


def register(app: typer.Typer) -> None:
    """Add the command group `policy`."""
    policy = typer.Typer(help="Which calls are allowed, asked about, or denied, and why.", no_args_is_help=True)
    for name, command in (
        ("check", check),
        ("explain", explain),
        ("test", run_tests),
        ("eval", evaluate),
        ("schema", schema),
        ("import", import_),
        ("backtest", backtest),
        ("suggest", suggest),
    ):
        policy.command(name)(command)
    app.add_typer(policy, name="policy")


def check(file: File = None, preset: FromPreset = None, config: Config = None, json: AsJson = False) -> None:
    """Report the problems of a policy. Each problem has its file, line and remedy.

    The exit status is 1 if there is any problem.

    Example: sayso policy check policy.yaml
    """
    from hitl.policy import PolicyInvalid

    name, text = _read(file, preset, config)
    try:
        problems, usable = _load(name, text).lint(), True
    except PolicyInvalid as invalid:
        problems, usable = list(invalid.problems), False
    if json:
        print_json({"file": name, "usable": usable, "problems": [asdict(problem) for problem in problems]})
    elif problems:
        for problem in problems:
            typer.echo(_line(name, problem))
        typer.echo(say("policy.usable" if usable else "policy.unusable", name=name))
    else:
        typer.echo(say("policy.sound", name=name))
    if problems:
        raise typer.Exit(_FINDINGS)


def explain(
    file: File = None,
    tool: Annotated[str, typer.Option("--tool", help="The tool that is called.")] = "",
    tools: Annotated[str, typer.Option("--tools", help="The group that it belongs to.")] = "",
    args: Annotated[str, typer.Option("--args", help="Its arguments, a JSON object.")] = "{}",
    cwd: Annotated[str | None, typer.Option("--cwd", help="The folder that relative paths are meant from.")] = None,
    preset: FromPreset = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Explain the verdict on a call.

    It lists every rule up to the deciding rule, and says whether each rule held. Nothing is run.

    Example: sayso policy explain policy.yaml --tool read_file --args '{"path": "../notes.txt"}' --cwd /srv/app
    """
    from hitl.policy import written_call

    if not tool:
        fail(say("policy.explain.tool"), 2)
    call = written_call(tool, _object(args), tools=tools, cwd=cwd)
    found = _for(_usable(*_read(file, preset, config)), cwd).explain(call)
    if json:
        tried = [{"rule": one.rule, "list": one.where, "held": one.outcome, "why": one.why} for one in found.tried]
        print_json({"verdict": _verdict(found.verdict), "tried": tried})
        return
    verdict = found.verdict
    typer.echo(f"{verdict.action} ({verdict.ground}), risk {verdict.risk}: {IN_ENGLISH.retold(verdict.why)}")
    if verdict.message:
        typer.echo(f"  {IN_ENGLISH.retold(verdict.message)}")
    if verdict.programs:
        typer.echo(f"  programs: {', '.join(verdict.programs)}")
    for one in found.tried:
        typer.echo(f"  {one.where}  {one.rule}  {_FOUND[one.outcome]}  {one.why}")


def run_tests(
    file: Annotated[Path, typer.Argument(help="The policy.")],
    expectations: Annotated[Path, typer.Argument(help="Calls, and the verdicts that they should get.")],
    json: AsJson = False,
) -> None:
    """Judge the calls of a file, and compare the verdicts.

    The file has the expected verdicts. The exit status is 1 if a verdict differs.

    Example: sayso policy test policy.yaml expectations.yaml
    """
    from hitl.policy import PolicyInvalid, run_expectations

    policy = _usable(str(file), _text(file)).elsewhere()
    try:
        report = run_expectations(policy, _text(expectations), name=str(expectations))
    except PolicyInvalid as invalid:
        _unusable(str(expectations), invalid)
    failed = [result for result in report.results if not result.passed]
    if json:
        told = [{"name": one.name, "line": one.line, "differences": list(one.differences)} for one in failed]
        print_json({"passed": len(report.results) - len(failed), "failed": told})
    else:
        for result in failed:
            typer.echo(f"{expectations}:{result.line}: {result.name}: {'; '.join(result.differences)}")
        typer.echo(f"{len(report.results) - len(failed)} passed" + (f", {len(failed)} failed" if failed else ""))
    if failed:
        raise typer.Exit(_FINDINGS)


def evaluate(
    file: File = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One call a line in, one verdict a line out.")] = False,
    preset: FromPreset = None,
    config: Config = None,
) -> None:
    """Judge one call from stdin, or with --jsonl one call on each line.

    A call is {"tools", "tool", "args", "cwd"}. A call with "policy" is judged by that policy.

    Example: echo '{"tool": "bash", "args": {"command": "ls"}}' | sayso policy eval policy.yaml
    """
    from hitl.policy import evaluate_row

    if jsonl:
        given: Policy | None = None
        for number, line in enumerate(sys.stdin, start=1):
            if not line.strip():
                continue
            row = _object(line, f"line {number}")
            if "policy" in row:
                answer = evaluate_row(row)
            else:
                given = given or _usable(*_read(file, preset, config))
                answer = {"id": row.get("id"), "refused": False, **_verdict(_judged(given, _call(row)))}
            sys.stdout.write(json_module.dumps(answer) + "\n")
        return
    print_json(_verdict(_judged(_usable(*_read(file, preset, config)), _call(_object(sys.stdin.read(), "stdin")))))


def _judged(policy: Policy, call: PolicyCall) -> Verdict:
    return _for(policy, call.cwd).judge(call)


def _for(policy: Policy, cwd: str | None) -> Policy:
    """Return the policy for calls whose working folder is `cwd`.

    If this machine doesn't have the folder, the returned policy never lists a folder's files to judge a command.
    """
    return policy if cwd is not None and Path(cwd).is_dir() else policy.elsewhere()


def schema() -> None:
    """Print the JSON Schema of policy documents.

    Example: sayso policy schema > policy.schema.json
    """
    from hitl.policy import json_schema

    typer.echo(json_module.dumps(json_schema(), indent=2))


def import_(
    form: Annotated[
        Foreign, typer.Argument(metavar="FORMAT", help="Whose document it is: harombe, contenox or laravel-hitl.")
    ],
    file: Annotated[Path, typer.Argument(help="The document.")],
    json: AsJson = False,
) -> None:
    """Convert another system's policy to a policy of Sayso.

    It also prints each place where Sayso's verdicts differ on purpose.

    Example: sayso policy import contenox envelope.json > policy.yaml
    """
    from hitl.policy import PolicyInvalid, import_foreign

    try:
        found = import_foreign(_text(file), form.value)
    except PolicyInvalid as invalid:
        _unusable(str(file), invalid)
    if json:
        print_json({"document": found.document, "differences": list(found.differences)})
    else:
        typer.echo(found.text, nl=False)


def backtest(
    file: Annotated[Path | None, typer.Argument(help="The policy to try.")] = None,
    preset: FromPreset = None,
    since: Since = "30d",
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Show which past requests a policy would have judged differently.

    It compares the policy with the policy that applies now, on the requests of the record. It uses the files and host
    names that exist now. Nothing is changed and nothing is run.

    Example: sayso policy backtest new.yaml --since 7d
    """
    from hitl.policy.backtest import backtest as compare
    from hitl.policy.proposal import shift_line

    tried = _usable(*_read(file, preset, config))
    done = compare(_usable(*_read(None, None, config)), tried, _past(config, since))
    if json:
        print_json({"judged": done.judged, "shifts": [structs.asdict(shift) for shift in done.shifts]})
        return
    typer.echo(say("backtest.judged", judged=done.judged, shifted=sum(shift.count for shift in done.shifts)))
    for shift in done.shifts:
        typer.echo(shift_line(shift))


def suggest(
    least: Annotated[int, typer.Option("--least", min=2, help="How often it must have been approved.")] = 5,
    since: Since = "30d",
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Suggest rules for requests that were always approved.

    It prints a whole policy that adds the rules to the policy that applies now. Its comments list the past requests on
    which the verdicts of the two policies differ. Each rule allows one tool with exactly the approved arguments. It
    suggests no rule for requests of high or critical risk, or for requests that were once rejected, withdrawn or left
    unanswered. Approvals within 2 seconds don't count. Nothing is changed.

    Example: sayso policy suggest --since 90d > suggested.yaml
    """
    from hitl.policy import PolicyInvalid
    from hitl.policy.backtest import LeftOut
    from hitl.policy.backtest import backtest as compare
    from hitl.policy.backtest import suggest as look_for
    from hitl.policy.proposal import headed, proposed, usable

    document, past = _applying(config), _past(config, since)
    now = _usable(document.origin, document.text, document.format)
    found, left_out = look_for(past, now, least=least)
    if json:
        print_json([structs.asdict(each) for each in found])
        _tell_left_out(left_out, least)
        return
    try:
        kept = usable(document, found)
    except PolicyInvalid as invalid:
        _unusable(document.origin, invalid)
    if covering := len(found) - len(kept):
        left_out[LeftOut.COVERS] = covering
    found = kept
    if not found:
        typer.echo(say("suggest.none"), err=True)
    _tell_left_out(left_out, least)
    if not found:
        return
    proposal = proposed(document, found)
    tried = _usable("the suggested policy", proposal, "yaml")
    typer.echo(headed(proposal, document, compare(now, tried, past)), nl=False)


def _tell_left_out(left_out: Mapping[LeftOut, int], least: int) -> None:
    """Print the number of kinds of requests for which there is no rule, with the reasons, if there are any."""
    if kinds := [say(f"suggest.left.{why}", count=count, least=least) for why, count in sorted(left_out.items())]:
        typer.echo(say("suggest.left", kinds="; ".join(kinds)), err=True)


def _past(config: Path | None, since: str | None) -> list[Call]:
    """Return the recorded requests since that time which pass their integrity check."""
    from bot.database import surveyed

    kept = kept_files(settings(config))
    with surveyed(kept.database) as survey:
        return list(survey.sound_calls(kept.keys, moment(since, "--since")))


def _read(file: Path | None, preset: Preset | None, config: Path | None) -> tuple[str, str]:
    """Return the name and the text of a policy: the named file, the named preset, or without either the policy of the
    settings.

    Exit 2 if both a file and a preset are named, or if the policy can't be read.
    """
    if file is not None and preset is not None:
        fail(say("policy.one"), 2)
    if file is not None:
        return str(file), _text(file)
    if preset is not None:
        from hitl.policy.presets import PresetSource

        found = PresetSource().read("", preset.value)
        return found.origin, found.text
    found = _applying(config)
    return found.origin, found.text


def _applying(config: Path | None) -> Document:
    """Return the policy document that the settings name.

    Exit 2 if the document doesn't exist or can't be used.
    """
    from bot.compose import policy_library
    from bot.errors import SettingsError

    chosen = settings(config)
    try:
        return policy_library(chosen.policy_folders()).read(chosen.policy_name())
    except SettingsError as error:
        fail(str(error), 2)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except OSError as error:
        fail(say("cli.unreadable", file=file, why=error.strerror), 2)
    except UnicodeDecodeError:
        fail(say("cli.utf8", file=file), 2)


def _load(name: str, text: str, form: str | None = None) -> Policy:
    """Return the compiled policy. It looks up paths on this machine's disk. Raises PolicyInvalid.

    `form` names the format, `json` or `yaml`. If it is None, the ending of the file's name gives the format.
    """
    from adapters.policies.surroundings import RealPaths
    from bot.errors import SettingsError
    from bot.policies import need_engine
    from hitl.policy import load

    try:
        need_engine()
    except SettingsError as error:
        fail(str(error), 2)
    return load(text, name=name, format=_FORMATS.get(form or name.rpartition(".")[2]), paths=RealPaths())


def _usable(name: str, text: str, form: str | None = None) -> Policy:
    """Return the compiled policy. If the policy has problems, print all of them and exit 1."""
    from hitl.policy import PolicyInvalid

    try:
        return _load(name, text, form)
    except PolicyInvalid as invalid:
        _unusable(name, invalid)


def _unusable(name: str, invalid: PolicyInvalid) -> NoReturn:
    for problem in invalid.problems:
        typer.echo(_line(name, problem), err=True)
    raise typer.Exit(_FINDINGS)


def _line(name: str, problem: Problem) -> str:
    """Return a problem as `file:line: place: message`, as compilers print it, so that editors can jump to the line."""
    tail = f" ({problem.suggestion})" if problem.suggestion else ""
    return f"{name}:{problem.line}: {problem.path or 'document'}: {problem.message}{tail}"


def _object(text: str, where: str = "--args") -> dict[str, Any]:
    try:
        value = json_module.loads(text)
    except (ValueError, RecursionError) as error:
        fail(say("cli.not_json", where=where, why=why_unread(error)), 2)
    if not isinstance(value, dict):
        fail(say("cli.no_object", where=where), 2)
    return value


def _call(row: dict[str, Any]) -> PolicyCall:
    from hitl.policy import written_call

    args, cwd = row.get("args", {}), row.get("cwd")
    if not isinstance(row.get("tool"), str) or not isinstance(args, dict) or not isinstance(cwd, str | None):
        fail(say("policy.call"), 2)
    return written_call(row["tool"], args, tools=str(row.get("tools", "")), cwd=cwd)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "action": verdict.action.value,
        "risk": verdict.risk.value,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "why": IN_ENGLISH.retold(verdict.why),
        "message": IN_ENGLISH.retold(verdict.message or "") or None,
        "timeout_s": verdict.timeout_s,
        "on_timeout": "deny",
        "execution_s": verdict.execution_s,
        "approvers": None if verdict.approvers is None else list(verdict.approvers),
        "exclude_requester": verdict.exclude_requester,
        "require_reason": verdict.require_reason,
        "programs": list(verdict.programs),
        "policy": verdict.policy,
    }
