"""What a message or view carries, checked: text, blocks, flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from simulators.slack import errors
from simulators.slack.blocks import (
    MAX_TOTAL,
    MAX_VIEW_BYTES,
    block_problems,
    named,
    total,
    view_bytes,
    view_problems,
)
from simulators.slack.errors import ApiError, Json
from simulators.slack.params import Params
from simulators.slack.platform import Platform

# Longer texts are cut where they are posted and refused where they are put into a message that is there.
MAX_TEXT: Final = 40_000
MAX_UPDATE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Content:
    """A message's text and blocks."""

    text: str
    blocks: tuple[Json, ...]


def content(platform: Platform, params: Params) -> Content:
    """Return what a call wants shown; there must be something."""
    given = params.parsed("blocks", errors.BLOCKS_NOT_JSON)
    if not given and not params.text("text"):
        raise ApiError(errors.NO_TEXT)
    return Content(params.text("text")[:MAX_TEXT], checked_blocks(platform, given or []))


def changed_content(platform: Platform, params: Params) -> Content:
    """Return what a call wants shown in a message that is there: a text alone takes the blocks away."""
    if len(params.text("text")) > MAX_UPDATE:
        raise ApiError(errors.MSG_TOO_LONG)
    return content(platform, params)


def checked_blocks(platform: Platform, blocks: Any) -> tuple[Json, ...]:
    """Return blocks as Slack keeps them."""
    if not isinstance(blocks, list):
        raise ApiError(errors.BLOCKS_NOT_JSON)
    problems = block_problems(blocks)
    if problems:
        raise ApiError(errors.invalid_blocks(problems))
    if total(blocks) > MAX_TOTAL:
        raise ApiError(errors.BLOCKS_TOO_LONG)
    return named(blocks, f"b{platform.number()}-")


def view_body(platform: Platform, view: Any) -> Json:
    """Return a view as Slack keeps it."""
    problems = view_problems(view)
    if problems:
        raise ApiError(errors.invalid_arguments(problems))
    if view_bytes(view) > MAX_VIEW_BYTES:
        raise ApiError(errors.Refusal("view_too_large"))
    return {**view, "blocks": list(named(view["blocks"], f"b{platform.number()}-"))}


def flags(params: Params) -> Json:
    """Return what a message says of itself beside its words."""
    return {
        "unfurl_links": params.switch("unfurl_links"),
        "unfurl_media": params.switch("unfurl_media"),
        "metadata": params.parsed("metadata", errors.Refusal("invalid_metadata_format")),
    }
