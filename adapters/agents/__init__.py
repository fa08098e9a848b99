"""Agents for conversations: an agent turns people's messages into tool calls."""
