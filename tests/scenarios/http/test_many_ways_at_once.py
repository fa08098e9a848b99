"""Everybody answers at the same moment, over HTTP: by ref, by short ref, and by the paths of the harombe design."""

from tests.scenarios.many_ways_at_once import *  # noqa: F403 - the scenarios are what is wanted
