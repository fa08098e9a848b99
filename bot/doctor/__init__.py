"""`sayso doctor`: every check that a call depends on."""
