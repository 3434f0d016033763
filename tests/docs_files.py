"""The files that the commands of README.md and docs/ speak of, so that these can be run."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent / "readers"))

from reader_files import pdf, pdf_text

_LEASE: Final = "The lease ends on 31 May 2027. The notice period is three months."
TEXTS: Final = {
    "question.txt": "What is 15% of 80?\n",
    "questions.txt": "What is 15% of 80?\nWhat is 2 + 2?\n",
    "questions.jsonl": '{"question": "What is 15% of 80?"}\n{"id": "q7", "prompt": "2 + 2?"}\n',
    "mine.jsonl": '{"question": "What is 15% of 80?", "answer": 12}\n',
    "letter.txt": f"Dear tenant,\n\n{_LEASE}\n",
    "notes.txt": "To be bought: 3 pounds of apples, 2 pints of milk.\n",
    "prices.csv": "what,price\napples,2.40\nmilk,1.10\n",
    "home/notes/flat.md": f"# The flat\n\n{_LEASE}\n",
    "home/contracts/lease.txt": f"{_LEASE}\n",
}


def prepare(folder: Path, model: Path) -> None:
    """Make the files in a folder, which is to be the working directory; its folder "home"
    is to be the user's. `model` is what stands for a GGUF file of one's own."""
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "contract.pdf").write_bytes(pdf([pdf_text(_LEASE)]))
    shutil.copyfile(model, folder / "my-model.gguf")
    if find_spec("libzim"):
        from zim_files import plain_page, write_zim

        write_zim(
            folder / "wikipedia.zim", {"Ada Lovelace": plain_page("Ada was a mathematician.")}
        )
