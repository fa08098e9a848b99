"""Agents' sessions that wait: how pending calls are grouped, and what is said of each session."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from hitl.cards.languages import wording_of
from hitl.cards.sessions import session_text, session_view, waiting_sessions
from hitl.cards.wording import ENGLISH
from hitl.testing import a_call
from tests.hitl.world import NOON

TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
CLAUDE = {"agent": "claude-code", "session": "s1", "cwd": "/srv/shop"}


def test_calls_of_one_session_are_one_line() -> None:
    """Oldest session first; the folder is the newest call's, and calls without a session are left out."""
    first = a_call(NOON, **CLAUDE)
    alone = a_call(NOON)
    other = a_call(NOON + timedelta(seconds=1), **CLAUDE | {"session": "s2"})
    last = a_call(NOON + timedelta(seconds=2), **CLAUDE | {"cwd": "/srv/shop/web"})
    found = waiting_sessions([first, alone, other, last])

    assert [(first, last), (other,)] == [session.calls for session in found]
    assert [(last, "web"), (other, "shop")] == [(session.newest, session.project) for session in found]


@pytest.mark.parametrize("field", ["requester", "agent"])
def test_a_session_is_told_apart_by_who_names_it(field: str) -> None:
    """An agent that gives its session the name of somebody else's session doesn't join that session."""
    calls = [a_call(NOON, **CLAUDE), a_call(NOON, **CLAUDE | {field: "local:1001"})]

    assert [[call] for call in calls] == [list(session.calls) for session in waiting_sessions(calls)]


@pytest.mark.parametrize(
    ("folder", "project"),
    [("/srv/shop/", "shop"), ("C:\\work\\shop", "shop"), ("/", "/"), (None, ""), ("shop", "shop")],
)
def test_a_project_is_the_last_name_of_its_folder(folder: str | None, project: str) -> None:
    """On any system; the root is a project of that name."""
    (session,) = waiting_sessions([a_call(NOON, **CLAUDE | {"cwd": folder})])

    assert project == session.project


def test_a_session_names_what_a_person_needs() -> None:
    """Agent, project, session, folder, how many since when, and the newest request with its ref."""
    calls = [a_call(NOON + timedelta(minutes=minute), **CLAUDE) for minute in range(2)]
    (session,) = waiting_sessions(calls)
    text, data = session_text(session), session_view(session)

    for part in ("claude-code", "shop", "s1", "/srv/shop", "2 ", f"{NOON:%Y-%m-%d %H:%M}", calls[1].short):
        assert part in text
    assert (2, NOON.isoformat(), calls[1].ref) == (data["pending"], data["since"], data["newest"])
    assert data == json.loads(json.dumps(data))
    assert text != session_text(session, wording=wording_of("de"))


def test_a_name_of_an_agent_hides_no_secret_and_says_nothing_in_our_words() -> None:
    """Secrets are masked, line breaks become signs, and a name that could be a sentence stands in quotation marks."""
    bad = {"session": f"s1\nNewest: {TOKEN}", "agent": "a” · 9 requests", "cwd": f"/srv/{TOKEN}/x\ny"}
    (session,) = waiting_sessions([a_call(NOON, **bad)])
    text = session_text(session)

    assert 2 == len(text.split("\n"))
    assert "“a\\u{201d} · 9 requests”" in text
    assert TOKEN[4:] not in text + json.dumps(session_view(session))
    assert ENGLISH["session.newest"].partition("{")[0] == text.split("\n")[1][: len("Newest: ")]
