"""The command line. Each command imports its modules when it runs, so that `sayso --version` stays quick."""
