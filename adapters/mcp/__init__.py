"""MCP on both sides of the gate: the servers whose tools this service runs, and the gateway that clients connect to."""
