"""Installations for the drills, stopped and removed after them."""

from __future__ import annotations

from tests.acceptance.making import install, maker

__all__ = ["install", "maker"]
