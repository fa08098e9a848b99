"""`sayso doctor`: checks everything that a call depends on."""
