"""The model of the settings, put together for the agent."""

from __future__ import annotations

import pytest

from bot.agent import make_model
from bot.errors import SettingsError
from bot.settings import AgentSettings


def test_a_limit_of_cost_needs_a_model_with_a_price() -> None:
    """A limit that can't hold is refused at the start."""
    base = {"key": "k", "cost": 0.5}
    made = make_model(AgentSettings.model_validate({**base, "model": "anthropic:claude-sonnet-4-5"}))

    with pytest.raises(SettingsError, match=r"agent\.cost"):
        make_model(AgentSettings.model_validate({**base, "model": "openai:simulated"}))
    assert "claude-sonnet-4-5" == made.model_name
