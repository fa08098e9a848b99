"""Tools that the service runs itself: registered Python callables, files of one folder, and a confined
shell.
"""
