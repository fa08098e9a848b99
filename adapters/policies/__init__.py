"""Reads policy documents, which are named files in a list of folders."""

from adapters.policies.folders import FolderSource, PolicyMissing, PolicyWritable

__all__ = ["FolderSource", "PolicyMissing", "PolicyWritable"]
