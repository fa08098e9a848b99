"""MCP on both sides of the gate: servers whose tools this service runs, and the server that clients connect to."""
