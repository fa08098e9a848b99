"""Makes the API's JSON documents for calls, cards and tokens.

In all texts of the documents, hidden characters are made visible and secrets are masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hitl.cards.card import Way, card, details
from hitl.cards.data import brief_view, encoded_view
from hitl.cards.edits import unified
from hitl.cards.lines import in_utc, plain
from hitl.cards.masked import masked
from hitl.cards.previews import is_diff, sides
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle
from hitl.proof.canonical import digest_mark

if TYPE_CHECKING:
    from hitl.call import Call, Lease
    from hitl.cards.lines import Line
    from hitl.credentials import Credential
    from hitl.gate.response import Submitted
    from hitl.people import Directory
    from hitl.people.names import Names

#: The highest number of characters of a diff, and of the old and the new text from which it is made.
LONGEST_DIFF = 16_384


def call_view(call: Call, people: Directory, names: Names, *, brief: bool = False) -> dict[str, Any]:
    """Return the document of a call, for a reader who may see the call.

    With `brief`, the document has neither `args` nor `output`. It has the arguments cut to one line instead.
    """
    made = brief_view if brief else encoded_view
    return made(call, names) | {"on_behalf_of": people.on_behalf_of(call.requester)}


def call_answer(submitted: Submitted, people: Directory, names: Names, lease: Lease | None = None) -> dict[str, Any]:
    """Return the document of a call, for the caller who has just asked for the call.

    `lease` is the claim of the call, if the same HTTP request also claimed the call.
    """
    call = lease.call if lease else submitted.call
    claim = {"args": stored_args(call), "until": lease.until.isoformat()} if lease else None
    beside = {"fresh": submitted.fresh, "same_as": submitted.same_as, "claim": claim}
    return call_view(call, people, names) | {"card": card_view(call, names)} | beside


def stored_args(call: Call) -> msgspec.Raw:
    """Return the arguments of a call as they are stored, for the claimant who runs the call."""
    return msgspec.Raw(call.args)


def card_view(call: Call, names: Names) -> dict[str, Any]:
    """Return the card of a call as a JSON document. Times in its texts are in UTC."""
    shown = card(call, names, Way.BUTTONS)
    same = ("sign", "short", "headline", "below", "place", "note", "rule", "warnings", "push", "asks", "output")
    lines = {name: _plain(getattr(shown, name)) for name in ("stakes", "approvers", "how")}
    return {
        **{name: getattr(shown, name) for name in same},
        **lines,
        "choices": list(shown.choices),
        "left_out": shown.left_out,
        "risk": shown.risk.value,
        "mark": digest_mark(call.digest),
        "parts": [{"kind": part.kind.value, "name": part.name, "text": part.text} for part in shown.parts],
        "outcome": " ".join(filter(None, (_plain(shown.end), _plain(shown.end_why)))),
    }


def _plain(line: Line) -> str:
    return plain(line, in_utc)


def card_answer(call: Call, names: Names) -> dict[str, Any]:
    """Return a card as data and as text, with its diff."""
    diff = _diff(call)
    known = {"ref": call.ref, "short": call.short, "digest": call.digest, "card": card_view(call, names)}
    old, new = (None, None) if diff is None else sides(diff)
    shown = {"diff": _shown(diff), "diff_old": _shown(old), "diff_new": _shown(new)}
    return known | {"text": card_text(call, names)} | shown


def card_text(call: Call, names: Names) -> str:
    """Return a card as text: the headline, all details of the call, and then its outcome, or its approvers while it is
    pending.
    """
    shown = card(call, names, Way.BUTTONS)
    outcome = [_plain(shown.end), _plain(shown.end_why)] if not shown.open else [_plain(shown.approvers)]
    return "\n".join(filter(None, [f"{shown.sign} {shown.headline}", details(call, names), *outcome]))


def token_view(credential: Credential) -> dict[str, Any]:
    """Return the document of a token, without the token's secret."""
    times = {name: getattr(credential, name) for name in ("created_at", "until", "used_at", "revoked_at")}
    return {
        "name": credential.name,
        "scope": credential.scope.value,
        "owner": credential.owner,
        "origins": list(credential.origins),
        "routes": list(credential.routes),
        "created_by": credential.created_by,
        **{name: at.isoformat() if at else None for name, at in times.items()},
    }


def _diff(call: Call) -> str | None:
    """Return the unified diff of the call's change with masked secrets, or None if no diff is known.

    The diff comes from the executor, or from a comparison of the old and the new text of an edit.
    """
    texts = masked(call)
    return texts.preview if is_diff(call.preview) else unified(texts.values)


def _shown(text: str | None) -> str | None:
    return None if text is None else cut_middle(mask(text, code=True), LONGEST_DIFF).text
