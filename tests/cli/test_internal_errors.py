"""What happens where the program itself is at fault."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from local_react.cli.main import run
from local_react.cli.root import root


def test_a_traceback_steers_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("\x1b[2J\u202eabc")

    monkeypatch.setattr(root, "main", fail)
    assert run(["-vv", "hello"]) == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "RuntimeError: [2Jabc" in told
    assert not {"\x1b", "\u202e"} & set(told)


@pytest.mark.skipif(sys.platform == "win32", reason="SKIPPED: Windows has no such limits")
def test_a_crash_leaves_no_core() -> None:
    code = (
        "import resource; from local_react.cli.main import run;"
        "most = resource.getrlimit(resource.RLIMIT_CORE)[1];"
        "resource.setrlimit(resource.RLIMIT_CORE, (most, most));"
        "run(['--version']); print(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
