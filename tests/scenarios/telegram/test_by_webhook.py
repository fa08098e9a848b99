"""The scenarios in which somebody answers, with Telegram calling us: all that differs is how updates come in."""

from __future__ import annotations

from tests.scenarios.telegram.test_as_everywhere import test_a_press_is_enough
from tests.scenarios.test_a_stranger_answers import *  # noqa: F403 - the scenarios are what is wanted
from tests.scenarios.test_several_cards_are_open import *  # noqa: F403
from tests.scenarios.test_somebody_approves import *  # noqa: F403
from tests.scenarios.test_somebody_is_unclear import *  # noqa: F403
from tests.scenarios.test_two_people_at_once import *  # noqa: F403

RECEIVE = "webhook"
__all__ = ["test_a_press_is_enough"]
