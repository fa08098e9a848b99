"""Slack as a surface: cards, buttons, threads, reactions, windows (Slack's modals) and `/sayso`.

Events arrive over HTTP or Socket Mode.
"""
