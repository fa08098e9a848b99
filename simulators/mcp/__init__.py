"""An MCP server that does what a script says, over standard streams: to try a gate without a real one."""
