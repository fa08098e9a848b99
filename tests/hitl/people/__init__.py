"""Tests of who is who, and of who may do what."""
