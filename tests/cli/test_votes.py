"""--votes and --only-if-sure: how many runs say the same, told and acted upon."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local_react.backends.scripted import ScriptedContext, ScriptedModel
from local_react.cli.agreement import agreement, is_from_another, is_sure, unsure
from local_react.cli.ask import ask
from local_react.cli.main import run
from local_react.core import Message, Run, Sampling, StopReason, Usage, Vote
from local_react.voting import ROUNDS

HOW_MANY = "How many eggs are in the basket?"
SUM = "What is 3 plus 4?"
SURE = "--only-if-sure"


class Templated(ScriptedModel):
    has_template = True
    path = Path("model.gguf")
    threads = 1
    repack = False


class Answering(Templated):
    """Answers by the number of the run, from 0, where each but the first has its seed; an
    empty answer is a reply that breaks off."""

    def start(self, messages: Sequence[Message], **options: Any) -> AnsweringContext:
        context = super().start(messages, **options)
        return AnsweringContext(**vars(context))


@dataclass
class AnsweringContext(ScriptedContext):
    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        answer = self.model.replies[sampling.seed]
        told = f'Finish {{"answer": "{answer}"}}' if answer else "Fin"
        yield from self._write(f"Thought: by run {sampling.seed}\nAction: {told}")


Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked(
    own_places: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ask:
    """Asks with a model whose runs give these answers; returns code, output and errors."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.delenv("LOCAL_REACT_VOTES", raising=False)

    def ask_(answers: Sequence[str], *arguments: str) -> tuple[int, str, str]:
        model = Answering(answers)
        monkeypatch.setattr("local_react.cli.wiring.load_model", lambda *a, **k: model)
        code = run(["--no-tools", *arguments])
        return code, *capsys.readouterr()

    return ask_


def voters(out: str) -> int:
    return len(json.loads(out)["votes"])


def test_how_many_agree_and_what_the_others_say_is_told_after_the_steps(asked: Ask) -> None:
    answers = ["12", "12 eggs", "15", "12.0", ""]
    code, out, err = asked(answers, "--votes", "5", HOW_MANY)
    assert (code, out) == (0, "12\n")
    assert "\n3 of 5 runs agree, 1 says 15, 1 came to no answer\n" in err
    assert err.index("Thought: by run 0") < err.index("3 of 5")
    assert err.count("Thought:") == 1
    assert asked(answers, "-q", "--votes", "5", HOW_MANY) == (0, "12\n", "")


def test_what_another_run_thought_is_shown_where_its_answer_is_taken(asked: Ask) -> None:
    code, out, err = asked(["15", "12", "12"], "--votes", "3", HOW_MANY)
    assert (code, out) == (0, "12\n")
    told = "2 of 3 runs agree on 12, which is not what was seen here, 1 says 15"
    assert f"\nThought: by run 1\n{told}\n" in err


def test_one_run_alone_is_nothing_to_compare(asked: Ask) -> None:
    for arguments in (("--votes", "1", SUM), (HOW_MANY,), ("--votes", "9", "Why is that?")):
        code, out, err = asked(["12"], *arguments)
        assert (code, out) == (0, "12\n")
        assert "agree" not in err
        run_ = json.loads(asked(["12"], "--json", *arguments)[1])
        assert (run_["confidence"], run_["votes"]) == (None, [])


def test_the_automatic_mode_asks_again_only_while_they_disagree(asked: Ask) -> None:
    assert voters(asked(["7", "7"], "--json", SUM)[1]) == ROUNDS[0]
    assert voters(asked(["7", "8", "7", "7", "1"], "--json", SUM)[1]) == ROUNDS[1]
    assert voters(asked("12345", "--json", "--votes", "auto", SUM)[1]) == ROUNDS[-1]


def test_json_has_the_votes(asked: Ask) -> None:
    told = json.loads(asked(["12", "15", "12"], "--json", "--votes", "3", HOW_MANY)[1])
    assert told["confidence"] == pytest.approx(2 / 3)
    assert told["guards"] == {}
    assert [vote["counts"] for vote in told["votes"]] == [True, False, True]
    assert set(told["votes"][0]) == {
        "answer", "way", "counts", "stop_reason", "usage", "seconds"
    }  # fmt: skip
    assert told["votes"][1]["answer"] == "15"
    assert told["votes"][1]["way"] == "reasoning"


@pytest.mark.parametrize("share", [(SURE,), (SURE, "0.75"), (f"{SURE}=0.61",), (SURE, "1")])
def test_an_answer_that_is_not_sure_is_not_printed(asked: Ask, share: tuple[str, ...]) -> None:
    answers = ["12", "15", "12", "12", "9"]
    for place in ((*share, HOW_MANY), (HOW_MANY, *share), ("-q", *share, "--", HOW_MANY)):
        code, out, err = asked(answers, *place)
        assert (code, out) == (6, "")
        assert "local-react: not sure: 3 of 5 runs say 12, 1 says 15, 1 says 9" in err.splitlines()
        assert "agree" not in err
    told = json.loads(asked(answers, "--json", *share, HOW_MANY)[1])
    assert (told["answer"], told["confidence"]) == ("", 0.6)


def test_an_answer_that_is_sure_is_printed(asked: Ask) -> None:
    answers = ["12", "15", "12", "12", "9"]
    assert asked(answers, "-q", SURE, "0.6", HOW_MANY) == (0, "12\n", "")
    assert asked(answers, "-q", SURE, ".5", HOW_MANY) == (0, "12\n", "")
    assert asked(["7", "7"], "-q", SURE, SUM) == (0, "7\n", "")
    assert asked(["7", "7", "8"], "-q", SURE, "0.6", "--votes", "3", SUM) == (0, "7\n", "")


def test_sureness_takes_several_runs_where_the_automatic_mode_makes_one(asked: Ask) -> None:
    answers = ["12"] * 5
    assert voters(asked(answers, "--json", SURE, HOW_MANY)[1]) == 5
    assert voters(asked(answers, "--json", SURE, "--votes", "2", HOW_MANY)[1]) == 2
    assert voters(asked(["7", "7"], "--json", SURE, SUM)[1]) == ROUNDS[0]


def test_no_run_that_comes_to_an_answer_is_not_sure(asked: Ask) -> None:
    code, out, err = asked(["eggs", "some", "a few"], "--votes", "3", SURE, HOW_MANY)
    assert (code, out) == (6, "")
    assert "not sure: none of 3 runs came to an answer that can be compared" in err


def test_of_a_question_whose_answers_cannot_be_compared_it_cannot_be_told(asked: Ask) -> None:
    # A model without replies fails where it is asked.
    for arguments in ((), ("--votes", "5"), ("--json",)):
        code, out, err = asked([], *arguments, SURE, "Why is the sky blue?")
        assert (code, out, err.count("\n")) == (6, "", 1)
        assert "how sure it is cannot be told of such a question" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--votes", "0"), "--votes must be auto or 1 to 32, not 0"),
        (("--votes", "-1"), "--votes must be auto or 1 to 32, not -1"),
        (("--votes", "33"), "--votes must be auto or 1 to 32, not 33"),
        (("--votes", "9" * 5000), "--votes must be auto or 1 to 32, not 999"),
        (("--votes", "many"), "--votes must be auto or 1 to 32, not many"),
        ((SURE, "0"), f"{SURE} must be above 0 and at most 1, not 0"),
        ((SURE, "-0.5"), f"{SURE} must be above 0 and at most 1, not -0.5"),
        ((SURE, "1.1"), f"{SURE} must be above 0 and at most 1, not 1.1"),
        ((SURE, "75%"), f"{SURE} must be above 0 and at most 1, not 75%"),
        ((f"{SURE}=nan",), f"{SURE} must be above 0 and at most 1, not nan"),
        ((f"{SURE}=",), f"{SURE} must be above 0 and at most 1, not nothing"),
        ((SURE, "--votes", "1"), f"{SURE} needs several runs"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    asked: Ask, arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = asked([], *arguments, HOW_MANY)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_the_variable_sets_the_votes_and_is_named_where_it_is_wrong(
    asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_VOTES", "2")
    assert voters(asked(["7", "8"], "--json", SUM)[1]) == 2
    assert voters(asked(["7", "8", "7"], "--json", "--votes", "3", SUM)[1]) == 3
    monkeypatch.setenv("LOCAL_REACT_VOTES", "lots")
    assert asked([], SUM)[2] == "local-react: LOCAL_REACT_VOTES must be auto or 1 to 32, not lots\n"


def test_a_dash_behind_the_end_of_the_options_is_part_of_the_question(asked: Ask) -> None:
    code, out, _ = asked(["7"], "--json", "--votes", "1", "--", SURE, "?")
    assert (code, json.loads(out)["question"]) == (0, f"{SURE} ?")


def test_help_says_what_the_automatic_mode_does_and_what_the_code_means() -> None:
    option = next(option for option in ask.params if option.name == "votes")
    assert "auto:" in option.to_info_dict()["help"]
    assert "\n  6  " in (ask.epilog or "")


def voted(*votes: tuple[str, bool, StopReason], answer: str = "12") -> Run:
    told = tuple(
        Vote(said, "tools", counts, reason, Usage(), 0.0) for said, counts, reason in votes
    )
    return Run(HOW_MANY, (), answer, "finish", "m", votes=told)


@pytest.mark.parametrize(
    ("run_", "told", "doubt"),
    [
        (
            voted(("12", True, "finish"), ("12", True, "finish")),
            "2 of 2 runs agree",
            "not sure: 2 of 2 runs say 12",
        ),
        (
            voted(("12", True, "finish"), ("15", False, "finish")),
            "no two of 2 runs agree: 1 says 12, 1 says 15",
            "not sure: 1 of 2 runs says 12, 1 says 15",
        ),
        (
            voted(
                ("9", False, "finish"),
                ("12", True, "finish"),
                ("15", False, "max_steps"),
                ("8", False, "finish"),
                ("12", True, "finish"),
                ("8 eggs", False, "finish"),
            ),
            "2 of 6 runs agree on 12, which is not what was seen here, 2 say 8, 1 says 9, "
            "1 came to no answer",
            "not sure: 2 of 6 runs say 12, 2 say 8, 1 says 9, 1 came to no answer",
        ),
        (
            voted(("?", False, "finish"), ("", False, "cut_off"), answer="?"),
            "none of 2 runs came to an answer that can be compared",
            "not sure: none of 2 runs came to an answer that can be compared",
        ),
        (
            voted(),
            "",
            "how sure it is cannot be told: one run alone was made, as one that looked outside "
            "is not repeated",
        ),
    ],
)
def test_what_is_told_of_the_votes(run_: Run, told: str, doubt: str) -> None:
    assert agreement(run_) == told
    assert unsure(run_) == doubt
    assert is_from_another(run_) == ("not what was seen" in told)


def test_a_long_answer_is_told_in_one_short_line() -> None:
    run_ = voted(("12", True, "finish"), ("word\n" * 99 + "7", False, "finish"))
    assert len(agreement(run_)) < 130
    assert "\n" not in agreement(run_)
    assert agreement(run_).endswith("word…")


def test_a_share_is_reached_by_as_many() -> None:
    run_ = voted(("12", True, "finish"), ("15", False, "finish"))
    assert is_sure(run_, 0.5)
    assert not is_sure(run_, 0.51)
    assert not is_sure(voted(), 0.01)


def test_a_run_that_had_to_be_ended_says_what_it_went_round_in(
    own_places: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = 'Thought: t\nAction: calculator {"expression": "1 + 1"}'
    model = Templated([call, call, 'Thought: t\nAction: Finish {"answer": "2"}'])
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr("local_react.cli.wiring.load_model", lambda *a, **k: model)
    assert run(["-q", "-T", "calculator", "--votes", "1", "Why?"]) == 4
    out, err = capsys.readouterr()
    assert (out, err) == ("2\n", "local-react: the model made no progress (repeated call)\n")


def test_what_is_set_for_good_gives_way_to_what_is_asked_now(
    asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_VOTES", "1")
    assert asked(["12", "12", "12", "12", "12"], SURE, "-q", HOW_MANY) == (0, "12\n", "")
    assert asked(["12"], SURE, "--votes", "1", HOW_MANY)[0] == 2
