"""The service was down for a while, on Slack."""

from tests.scenarios.across_a_restart import *  # noqa: F403 - the scenarios are what is wanted
