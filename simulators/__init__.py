"""Platform servers of ours over real HTTP, and their own tests."""
