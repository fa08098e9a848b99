"""The HTTP API and the server behind it, which also takes the webhooks of chat platforms."""
