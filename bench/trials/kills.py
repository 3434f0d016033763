"""Kills at any moment: what is there then is whole, and nothing that was confirmed is gone."""

from __future__ import annotations

from functools import partial
from random import Random

from trials.damaged import Damaged
from trials.kill_batches import Batches
from trials.kill_calls import Stage, each
from trials.kill_chats import Chats
from trials.kill_documents import Documents
from trials.kill_downloads import Downloads, slow_hub
from trials.kill_writes import writes
from trials.killing import killed
from trials.trial import Report, Trial


def _downloads(attempts: int, random: Random) -> Report:
    with slow_hub() as hub:
        return killed(partial(Downloads.measured, hub))(attempts, random)


TRIALS: tuple[Trial, ...] = (
    Trial("kill-download", "a download is killed, and started again", _downloads, 100, 8),
    Trial("kill-index", "an index is killed as it is written", killed(Documents.measured), 100, 6),
    Trial("kill-chat", "a chat at a terminal is killed", killed(Chats.measured), 100, 6),
    Trial("kill-batch", "a batch is killed, or two write a file", killed(Batches.measured), 100, 8),
    Trial(
        "kill-write", "caches and settings are killed as they are written", killed(writes), 104, 8
    ),
    Trial("kill-call", "commands are killed at a call of the system", each(Stage.killed), 156, 8),
    Trial("power-cut", "the order in which it gets to the disk", each(Stage.in_order), 13, 13),
    Trial("damaged", "files of ours are damaged, or are none", killed(Damaged.filled), 120, 10),
)
