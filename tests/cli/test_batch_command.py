"""`local-react batch` as a person meets it: a real process, killed and started again."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback

from local_react import LlamaModel, ScriptedModel, tool
from local_react.backends.scripted import ScriptedContext
from local_react.cli.batch_progress import _Lines
from local_react.cli.main import run
from local_react.cli.offered import Offered
from local_react.core import Message
from local_react.network import Network

COUNT = 20
FAST = ("-t", "1", "--thought-tokens", "12", "--votes", "1", "--no-tools")


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "local_react", "batch", *map(str, arguments)]


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str


def batch(*arguments: object, piped: bytes = b"") -> Ended:
    return ended(started(*arguments), piped)


def started(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        program(*arguments),
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process: subprocess.Popen[bytes], piped: bytes = b"") -> Ended:
    out, err = process.communicate(piped, timeout=300)
    assert b"Traceback" not in err
    return Ended(process.returncode, out.decode(), err.decode())


def complaint(done: Ended, code: int) -> str:
    """Return the one line of an error, after checking that it is one and the exit code."""
    assert done.code == code, done.err
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    return done.err


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Twenty questions, of which some stand there twice, and every second has an id."""
    path = tmp_path / "in.jsonl"
    lines: list[dict[str, Any]] = [
        {"question": f"What is {n // 2} + {n // 4}?"} for n in range(COUNT)
    ]
    for n in range(0, COUNT, 2):
        lines[n]["id"] = f"q{n}"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def whole_lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def results(path: Path) -> list[dict[str, Any]]:
    assert path.read_bytes().endswith(b"\n")
    return [json.loads(line) for line in whole_lines(path)]


def killed(command: Sequence[object], out: Path, how: signal.Signals) -> Ended:
    """Return the process, which got a signal when eight results stood there."""
    process = started(*command)
    for _ in range(6000):
        if len(whole_lines(out)) >= 8:
            break
        assert process.poll() is None, ended(process)
        time.sleep(0.01)
    process.send_signal(how)
    return ended(process)


@pytest.mark.skipif(os.name == "nt", reason="there is another way to kill")
@pytest.mark.parametrize("together", [1, 4])
def test_killed_half_way_the_second_call_finishes_the_rest(
    tiny_path: Path, questions: Path, out: Path, together: int
) -> None:
    command = (questions, "-o", out, "-m", tiny_path, *FAST, "--together", together)
    assert killed(command, out, signal.SIGKILL).code == -signal.SIGKILL
    before = whole_lines(out)
    assert 8 <= len(before) < COUNT
    with out.open("ab") as file:  # as if it had been at the next one
        file.write(before[0][:100])
    done = batch(*command)
    assert done.code in (0, 4)
    assert f"{COUNT} questions: " in done.err
    assert whole_lines(out)[: len(before)] == before
    asked = [json.loads(line) for line in questions.read_text().splitlines()]
    found = sorted(results(out), key=lambda result: int(result["line"]))
    assert [result["line"] for result in found] == list(range(1, COUNT + 1))
    assert [result["question"] for result in found] == [line["question"] for line in asked]
    assert [result["id"] for result in found] == [line.get("id") for line in asked]
    assert sorted(path.name for path in out.parent.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another signal there")
@pytest.mark.parametrize("together", [1, 4])
def test_ctrl_c_keeps_what_was_done_and_says_how_to_go_on(
    tiny_path: Path, questions: Path, out: Path, together: int
) -> None:
    command = (questions, "-o", out, "-m", tiny_path, *FAST, "--together", together)
    told = complaint(killed(command, out, signal.SIGINT), 130)
    assert "the same command goes on from there" in told
    assert all(result["stop_reason"] != "interrupted" for result in results(out))
    batch(*command)
    assert sorted(result["line"] for result in results(out)) == list(range(1, COUNT + 1))


def test_each_result_is_the_whole_run_with_what_left_and_its_exit_code(
    tiny_path: Path, out: Path
) -> None:
    data = b'{"id": 7, "question": "hello", "expected": "hi"}\n'
    done = batch("-", "-o", out, "-m", tiny_path, *FAST, piped=data)
    (result,) = results(out)
    assert (done.out, done.code) == ("", result["exit_code"])
    assert (result["id"], result["line"], result["question"]) == (7, 1, "hello")
    assert result["input"] == {"expected": "hi"}
    assert {"answer", "stop_reason", "confidence", "steps", "sources", "usage"} <= set(result)
    assert result["seconds"] > 0
    assert result["egress"] == []
    assert result["settings"]["max_steps"] == 8
    assert result["settings"]["model"] == str(tiny_path)


def test_a_bad_line_stops_no_other_and_is_tried_again(
    tiny_path: Path, tmp_path: Path, out: Path
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"question": "a"}\nno JSON\n{"question": "b"}\n')
    command = (path, "-o", out, "-m", tiny_path, *FAST)
    done = batch(*command)
    assert done.code == 2
    assert "1 in error" in done.err
    (bad,) = [result for result in results(out) if "error" in result]
    assert (bad["line"], bad["exit_code"]) == (2, 2)
    assert batch(*command).code == 2
    assert len(results(out)) == 3
    path.write_text('{"question": "a"}\n{"question": "c"}\n{"question": "b"}\n{"question": "d"}\n')
    assert batch(*command).code in (0, 4)
    found = {result["line"]: result["question"] for result in results(out)}
    assert found == {1: "a", 2: "c", 3: "b", 4: "d"}
    assert len(results(out)) == 4


def test_what_is_done_needs_no_model(out: Path, tiny_path: Path) -> None:
    model = tiny_path.with_name("moved.gguf")
    model.write_bytes(tiny_path.read_bytes())
    command = ("-", "-o", out, "-m", model, *FAST, "--format", "text")
    first = batch(*command, piped=b"a\nb\n")
    model.unlink()
    again = batch(*command, piped=b"a\nb\n")
    assert again.code == first.code
    assert batch(*command, piped=b"a\nb\nc\n").code == 3
    assert len(results(out)) == 2


def test_another_input_or_other_settings_are_refused_unless_forced(
    tiny_path: Path, out: Path
) -> None:
    command = ("-", "-o", out, "-m", tiny_path, *FAST, "--format", "text")
    batch(*command, piped=b"a\n")
    before = out.read_bytes()
    told = complaint(batch(*command, piped=b"b\n"), 2)
    assert "answers another question at line 1" in told
    told = complaint(batch(*command, "--seed", 5, piped=b"a\n"), 2)
    assert "seed" in told and "--force" in told
    assert "network" in complaint(batch(*command, "--network", "allow", piped=b"a\n"), 2)
    assert out.read_bytes() == before
    batch(*command, "--force", piped=b"b\n")
    assert [result["question"] for result in results(out)] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "piped", "code", "told"),
    [
        (("none.jsonl", "-o", "OUT"), b"", 2, "none.jsonl cannot be read"),
        (("-", "-o", "OUT"), b"", 2, "standard input is empty"),
        (("-", "-o", "OUT"), b"What is it?\n", 2, "--format text"),
        (("-", "-o", "none/out.jsonl"), b'{"question": "q"}', 2, "there is no folder"),
        (("-", "-o", "FOLDER"), b'{"question": "q"}', 2, "is no file"),
        (("OUT", "-o", "OUT"), b"", 2, "is what is read"),
        (("-",), b"q", 2, "-o"),
        (("-", "-o", "OUT", "-T", "calculater"), b'{"question": "q"}', 2, "calculator"),
        (("-", "-o", "OUT", "--max-steps", "0"), b'{"question": "q"}', 2, "--max-steps"),
        (("-", "-o", "OUT", "--temperature", "-1"), b'{"question": "q"}', 2, "temperature"),
        (("-", "-o", "OUT", "-T", "search"), b'{"question": "q"}', 5, "--network allow"),
        (("-", "-o", "OUT", "-m", "none.gguf"), b'{"question": "q"}', 3, "there is no file"),
    ],
)
def test_what_cannot_be_used_is_one_line_before_anything_is_written(
    tiny_path: Path,
    out: Path,
    arguments: tuple[str, ...],
    piped: bytes,
    code: int,
    told: str,
) -> None:
    own = arguments[0] == "OUT"
    if own:
        out.write_text('{"question": "q"}\n')
    places = {"OUT": str(out), "FOLDER": str(out.parent)}
    filled = [places.get(one, one) for one in arguments]
    model = () if "-m" in arguments else ("-m", tiny_path)
    assert told in complaint(batch(*filled, *model, *FAST[:-1], piped=piped), code)
    assert out.exists() == own


def test_nobody_is_asked_though_there_is_a_terminal(tiny_path: Path, out: Path) -> None:
    master, slave = pty.openpty()
    source = out.with_name("in.txt")
    source.write_text("a\nb\n")
    process = subprocess.Popen(
        program(source, "-o", out, "-m", tiny_path, *FAST, "--format", "text"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 1000):
            shown += chunk
    except OSError:  # how the end of a terminal is told on Linux
        pass
    os.close(master)
    assert process.wait(60) in (0, 4)
    assert len(results(out)) == 2
    assert b"[n]" not in shown
    assert b"/2" in shown  # the bar
    assert b"2 questions: " in shown


def test_quiet_says_nothing(tiny_path: Path, out: Path) -> None:
    done = batch("-", "-q", "-o", out, "-m", tiny_path, *FAST, piped=b'{"question": "q"}')
    assert (done.out, done.err) == ("", "")


def test_without_a_terminal_a_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 1.0, 29.0, 31.0, 31.0, 62.0, 62.0])
    monkeypatch.setattr("local_react.cli.batch_progress.monotonic", lambda: next(clock))
    lines = _Lines(4)
    for _ in range(4):
        lines.tick()
    assert capsys.readouterr().err == "3 of 4 questions\n4 of 4 questions\n"


@pytest.mark.model
@pytest.mark.skipif(os.name == "nt", reason="there is another way to kill")
def test_a_real_model_killed_half_way(smollm: LlamaModel, questions: Path, out: Path) -> None:
    command = (questions, "-o", out, "-m", smollm.path, "--max-steps", 3, "--together", 4)
    assert killed(command, out, signal.SIGKILL).code == -signal.SIGKILL
    before = whole_lines(out)
    assert batch(*command).code in (0, 4)
    assert whole_lines(out)[: len(before)] == before
    assert sorted(result["line"] for result in results(out)) == list(range(1, COUNT + 1))


# -- in this process, with scripted replies --------------------------------------------

FINISH = 'Thought: so\nAction: Finish {"answer": "3"}'


@dataclass(frozen=True)
class Scripted:
    """Runs the command with a script in place of a model, and two tools of the test's."""

    out: Path
    patch: pytest.MonkeyPatch

    def run(
        self,
        *arguments: str,
        model: ScriptedModel,
        url: str = "",
        asked: str = "What is 1 + 2?\nWhat is 3 + 4?\n",
    ) -> int:
        source = self.out.with_name("in.txt")
        source.write_text(asked)

        def offered(network: Network, *_: object, **__: object) -> Offered:
            @tool(may=["reads network"], own_words=True)
            def rate(code: str) -> str:
                """Return a rate."""
                return str(network.get_json(f"{url}/{code}", tool="rate"))

            @tool(may=["writes"])
            def write_note(text: str) -> str:
                """Write a note."""
                return f"wrote {text}"

            return Offered([rate, write_note], ("a tool of yours is no good",))

        self.patch.setattr("local_react.cli.offered.offered_tools", offered)
        self.patch.setattr("local_react.cli.wiring.load_model", lambda options: model)
        told = [str(source), "--format", "text", "-o", str(self.out), "--votes", "1", *arguments]
        return run(["batch", *told])


@pytest.fixture
def scripted(own_places: None, out: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    return Scripted(out, monkeypatch)


@pytest.mark.parametrize("together", ["1", "2"])
def test_what_left_is_told_of_each_question(
    scripted: Scripted, together: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch = 'Thought: t\nAction: rate {"code": "EUR"}'
    with Loopback(b"[1]").serve() as server:
        code = scripted.run(
            *("--network", "allow", "--together", together),
            model=ScriptedModel([fetch, FINISH]),
            url=server.url,
        )
        assert server.asked == ["/EUR", "/EUR"]
    assert code == 0
    for result in results(scripted.out):
        (exchange,) = result["egress"]
        assert (exchange["tool"], exchange["host"]) == ("rate", "127.0.0.1")
        assert [step["observation"] for step in result["steps"]] == ["[1]", None]
    err = capsys.readouterr().err
    assert "2 requests left this machine" in err
    assert err.startswith("local-react: a tool of yours is no good\n")


def test_without_consent_nothing_leaves(scripted: Scripted) -> None:
    fetch = 'Thought: t\nAction: rate {"code": "EUR"}'
    with Loopback(b"[1]").serve() as server:
        assert scripted.run(model=ScriptedModel([fetch, FINISH]), url=server.url) == 0
        assert server.asked == []
    assert all(result["egress"] == [] for result in results(scripted.out))


@pytest.mark.parametrize(
    ("arguments", "told"), [((), "not allowed here"), (("--yes",), "wrote milk")]
)
def test_a_tool_that_changes_something_acts_with_yes_alone(
    scripted: Scripted, arguments: tuple[str, ...], told: str
) -> None:
    write = 'Thought: t\nAction: write_note {"text": "milk"}'
    assert scripted.run(*arguments, model=ScriptedModel([write, FINISH])) == 0
    assert all(told in result["steps"][0]["observation"] for result in results(scripted.out))


class Wavering(ScriptedModel):
    """Gives another answer each time that it is asked."""

    def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
        context = super().start(messages, **options)
        context.replies = iter([FINISH.replace("3", str(next(self.numbers)))])
        return context

    numbers = count()


@pytest.mark.parametrize(("model", "code"), [(ScriptedModel([FINISH]), 0), (Wavering([]), 6)])
def test_an_answer_that_is_not_sure_enough_is_not_told(
    scripted: Scripted, model: ScriptedModel, code: int
) -> None:
    assert scripted.run("--votes", "3", "--only-if-sure", model=model) == code
    for result in results(scripted.out):
        assert (result["answer"], result["exit_code"]) == ("" if code else "3", code)
        assert result["settings"]["only_if_sure"] == 0.75


def test_what_cannot_be_compared_is_not_asked_for_sureness(scripted: Scripted) -> None:
    asked = "Write a poem.\nWhat is 1 + 2?\n"
    model = ScriptedModel([FINISH])
    assert scripted.run("--votes", "3", "--only-if-sure", model=model, asked=asked) == 6
    first, second = results(scripted.out)
    assert "cannot be told" in first["error"]
    assert second["answer"] == "3"
