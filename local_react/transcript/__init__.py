"""A run on disk, enough to replay it.

    lines        the format: JSON lines, written and read
    record       what a run's tools gave, noted as they are called
    recalled     what those tools gave, given again
    replay       a run made again, from its transcript alone
    differences  where two runs part
    redacting    a transcript without what was said in it
    page         a run as a page of HTML
    model_hash   which file a model is

The format has no other source than `lines`.
"""

from __future__ import annotations

from local_react.transcript.differences import Difference, first_difference
from local_react.transcript.lines import Transcript, bare, parsed
from local_react.transcript.record import Recorder
from local_react.transcript.redacting import redacted
from local_react.transcript.replay import Changes, Replay

__all__ = [
    "Changes",
    "Difference",
    "Recorder",
    "Replay",
    "Transcript",
    "bare",
    "first_difference",
    "parsed",
    "redacted",
]
