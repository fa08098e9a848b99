"""Everybody answers at the same moment, on Telegram."""

from tests.scenarios.many_ways_at_once import *  # noqa: F403 - the scenarios are what is wanted
