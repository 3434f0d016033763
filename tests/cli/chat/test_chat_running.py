"""A question in a thread of its own: Ctrl-C, and what the user is asked meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event as Flag
from threading import Thread, current_thread
from time import sleep

import pytest
from chatting import Shown, Typed, finish, opened

from local_react import ScriptedModel, tool
from local_react.backends.scripted import ScriptedContext
from local_react.cli.chat import running
from local_react.cli.chat.following import Following
from local_react.cli.chat.running import Runner
from local_react.cli.chat.talking import talk
from local_react.core import Event, Message, Run, Sampling, Step, Text
from local_react.errors import ToolError, UsageError
from local_react.network import Network, Outgoing, Reply

RUN = Run("q", (), "12", "finish", "m")
STOPPED = Run("q", (), "", "interrupted", "m")


class Watching:
    """Notes what it is told, and presses Ctrl-C where it is told to."""

    def __init__(self, press_at: str = "") -> None:
        self.seen = ""
        self.idles = 0
        self._press_at = press_at

    def event(self, event: Text | Step) -> None:
        assert isinstance(event, Text)
        self.seen += event.text
        if event.text == self._press_at:
            raise KeyboardInterrupt

    def idle(self) -> None:
        self.idles += 1
        if self._press_at == "idle":
            raise KeyboardInterrupt


def until_stopped(stop: Flag) -> Callable[[], Iterator[Event]]:
    def begin() -> Iterator[Event]:
        yield Text("a")
        stop.wait()
        yield Text("b")
        yield STOPPED

    return begin


def test_what_happens_is_told_in_order_and_the_run_given() -> None:
    watching = Watching()
    events: list[Event] = [Text("a"), Text("b"), RUN]
    assert Runner().run(lambda: iter(events), lambda: None, watching) is RUN
    assert watching.seen == "ab"


@pytest.mark.parametrize("moment", ["a", "idle"])
def test_ctrl_c_stops_the_run_and_shows_what_it_still_writes(moment: str) -> None:
    stop, watching = Flag(), Watching(moment)
    assert Runner().run(until_stopped(stop), stop.set, watching) is STOPPED
    assert watching.seen == "ab"


def test_an_answer_that_is_there_already_is_not_lost_to_ctrl_c() -> None:
    events: list[Event] = [Text("a"), RUN]
    assert Runner().run(lambda: iter(events), lambda: None, Watching("a")) is RUN


def test_what_does_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 0.2)
    busy, watching = Flag(), Watching("a")
    assert Runner().run(until_stopped(busy), lambda: None, watching) is None
    busy.set()


def test_an_error_of_the_run_is_raised() -> None:
    def begin() -> Iterator[Event]:
        yield Text("a")
        raise UsageError("too long")

    for watching in (Watching(), Watching("a")):
        with pytest.raises(UsageError, match="too long"):
            Runner().run(begin, lambda: None, watching)


def asking(runner: Runner, ask: Callable[[str], str]) -> Callable[[], Iterator[Event]]:
    asks = runner.asks(ask, "refused")

    def begin() -> Iterator[Event]:
        yield Text(asks("may I?"))
        yield RUN

    return begin


def test_the_user_is_asked_in_the_thread_of_the_terminal() -> None:
    runner, watching, threads = Runner(), Watching(), list[Thread]()

    def ask(what: str) -> str:
        threads.append(current_thread())
        return f"{what} yes"

    assert runner.run(asking(runner, ask), lambda: None, watching) is RUN
    assert (watching.seen, threads) == ("may I? yes", [current_thread()])
    assert runner.asks(ask, "refused")("and here?") == "and here? yes"


def test_ctrl_c_at_a_question_is_a_no() -> None:
    runner, watching = Runner(), Watching()

    def ask(what: str) -> str:
        raise KeyboardInterrupt

    assert runner.run(asking(runner, ask), lambda: None, watching) is RUN
    assert watching.seen == "refused"


def test_what_was_left_behind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 0.2)
    runner, busy, said = Runner(), Flag(), list[str]()
    asks = runner.asks(lambda what: "yes", "refused")

    def begin() -> Iterator[Event]:
        yield Text("a")
        busy.wait()
        said.append(asks("may I?"))
        over.set()

    over = Flag()
    assert runner.run(begin, lambda: None, Watching("a")) is None
    busy.set()
    assert over.wait(60)
    assert said == ["refused"]


# In a chat


class Pressing(Shown):
    """Presses Ctrl-C once something of the answer is written."""

    presses = 1

    def grow(self, lines: object) -> None:
        if self.presses:
            self.presses -= 1
            raise KeyboardInterrupt


class EndlessContext(ScriptedContext):
    """Gives its script, then begins to write and comes to no end until it is told to."""

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        if reply := next(self.replies, ""):
            yield reply
            return
        yield "Thought: word word"
        while not self.cancel.is_set():
            sleep(0.01)


class Endless(ScriptedModel):
    def start(
        self, messages: Sequence[Message], *, fixed: bool = False, cancel: Flag | None = None
    ) -> EndlessContext:
        replies, none = iter(self.replies), iter(())
        return EndlessContext(self, replies, none, cancel or Flag(), self.context_size)


def test_ctrl_c_stops_the_answer_and_keeps_the_chat(own_places: None) -> None:
    chat = opened([finish("12")])
    agent = chat.session.agent
    chat.session.agent = replace(agent, model=Endless([]))
    shown = Pressing()
    assert talk(chat, Typed("one?", "/session"), shown, typed=True) == 0
    assert shown.notes == [
        "Thought: word word", "stopped", "a session without a name yet: 0 turns",
    ]  # fmt: skip
    assert chat.log.history.runs() == []
    chat.session.agent = agent
    talk(chat, Typed("two?"), shown, typed=True)
    assert shown.answers == ["12"]


def test_what_a_stopped_run_noted_is_in_no_transcript(own_places: None) -> None:
    class AfterAStep(Pressing):
        def grow(self, lines: object) -> None:
            if self.notes:
                super().grow(lines)

    call = 'Thought: t\nAction: calculator {"expression": "2+2"}'
    chat = opened([finish("12")], "-T", "calculator")
    agent = chat.session.agent
    chat.session.agent = replace(agent, model=Endless([call]))
    shown = AfterAStep()
    talk(chat, Typed("one?"), shown, typed=True)
    assert shown.notes[0] == '  · calculator {"expression": "2+2"} → 4'
    chat.session.agent = agent
    talk(chat, Typed("two?"), shown, typed=True)
    [kept] = chat.log.history.runs()
    assert '"2+2"' not in chat.log.history.transcript(kept.id)


def test_without_a_terminal_ctrl_c_ends_the_chat_with_the_answer(own_places: None) -> None:
    chat = opened([finish("12")])
    chat.session.agent = replace(chat.session.agent, model=Endless([]))
    shown = Pressing()
    assert talk(chat, Typed("one?", "/session"), shown, typed=False) == 130
    assert shown.notes == ["Thought: word word", "stopped"]


def test_a_tool_that_is_busy_is_left_behind_and_reaches_nothing_any_more(
    own_places: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 0.2)
    busy, entered, ended = Flag(), Flag(), Flag()

    @tool
    def wait(why: str) -> str:
        """Wait."""
        entered.set()
        busy.wait()
        ended.set()
        return "done"

    call = 'Thought: t\nAction: wait {"why": "x"}'
    chat = opened([call, finish("12")])
    first = chat.session
    agent = chat.session.agent
    chat.session.agent = type(agent)(agent.model, [wait])

    class Impatient(Pressing):
        def grow(self, lines: object) -> None:
            if entered.is_set():
                super().grow(lines)

    shown = Impatient()
    talk(chat, Typed("one?"), shown, typed=True)
    assert shown.notes[-1] == "stopped, though a tool is still busy"
    busy.set()
    assert ended.wait(60)
    assert chat.session is not first
    chat.session.agent = opened([finish("13")]).session.agent
    again = Shown()
    talk(chat, Typed("two?"), again, typed=True)
    assert again.answers == ["13"]
    assert [turn.question for turn in chat.session.turns] == ["two?"]


def test_a_quiet_chat_shows_the_answer_alone(own_places: None) -> None:
    shown = Shown()
    call = 'Thought: t\nAction: calculator {"expression": "2+2"}'
    chat = opened([call, finish("4")], "-T", "calculator", "-q")
    talk(chat, Typed("one?"), shown, typed=False)
    assert (shown.notes, shown.answers) == ([], ["4"])


def test_while_nothing_is_written_it_is_told_what_goes_on() -> None:
    lines = list[str]()

    class Growing(Shown):
        def grow(self, lines_: object) -> None:
            assert callable(lines_)
            lines.append(lines_(40, 10)[0].text)

    following = Following(Growing(), lambda: "reading", unfolded=False, quiet=False)
    following.idle()
    following.event(Text("Thought: I see"))
    following.idle()
    assert lines[0].endswith("reading …")
    assert lines[-1] == "I see"


@pytest.mark.parametrize("reply", ["no", "run"])
def test_what_is_said_of_one_question_is_asked_again_of_the_next(
    reply: Reply, own_places: None
) -> None:
    asked = list[Outgoing]()

    def ask(outgoing: Outgoing) -> Reply:
        asked.append(outgoing)
        return reply

    network = Network("ask", ask=ask)
    for _ in range(2):
        network.begin()
        for _ in range(2):
            with suppress(ToolError):
                network.permit("search", ["a.example"], "rain")
    assert len(asked) == 2
