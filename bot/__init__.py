"""The running process. Only this package puts concrete classes together: store, platforms, executors."""
