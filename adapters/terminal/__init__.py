"""A terminal as a surface: it shows the card, and a person types lines to answer it."""
