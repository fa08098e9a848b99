"""What people do with an agent that a model is behind."""
