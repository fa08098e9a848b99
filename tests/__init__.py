"""Tests of all that this repository holds."""
