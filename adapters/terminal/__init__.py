"""A terminal as a surface: the card in a box, and lines typed towards it."""
