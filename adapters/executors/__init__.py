"""Tools that the service runs itself: registered Python callables, file tools for one folder, and a confined shell."""
