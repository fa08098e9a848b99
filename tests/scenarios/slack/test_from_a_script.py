"""A script asks, and the card stands on Slack."""

from tests.scenarios.from_a_script import *  # noqa: F403 - the scenarios are what is wanted
