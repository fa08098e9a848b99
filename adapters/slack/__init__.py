"""Slack as a surface: cards, buttons, threads, reactions, windows and `/sayso`, over HTTP or Socket Mode."""
