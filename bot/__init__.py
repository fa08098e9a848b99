"""The running process. Only here, concrete classes (store, platforms, executors) are put together."""
