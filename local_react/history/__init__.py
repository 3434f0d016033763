"""What is kept between runs: conversations, runs, and what the user wants remembered."""

from __future__ import annotations

from local_react.history.infos import FactInfo, RunInfo, SessionInfo
from local_react.history.kept import History

__all__ = ["FactInfo", "History", "RunInfo", "SessionInfo"]
