"""Checks of our platform servers against clients that others wrote."""
