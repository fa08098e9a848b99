"""`python -m bot`: the command `sayso`, for a checkout that isn't installed."""

from bot.cli.main import main

main()
