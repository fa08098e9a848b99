"""HTTP: the shell of the service, on which webhooks are mounted."""
