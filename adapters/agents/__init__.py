"""Agents for conversations: each turns what people say into tool calls."""
