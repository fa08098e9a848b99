"""Messages of an MCP client, for tests that speak the protocol without the library."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "somebody", "version": "1"},
    },
}
