"""The Unix socket: how scripts ask and how people on this machine decide, known by their user id."""
