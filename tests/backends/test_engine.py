"""The engine on every kind of memory that llama.cpp has, with models of random weights."""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from tiny_model import ARCHITECTURES, TEMPLATE, write_tiny_model

from local_react import Agent, LlamaModel, Sampling, protocol, tool
from local_react.backends.llama import LlamaContext
from local_react.backends.llama.evaluator import Evaluator
from local_react.core import Context, Message, Request
from local_react.errors import GrammarError, ModelError, UsageError
from local_react.loop import Loop
from local_react.prefix_cache import PrefixCache

WARM = Sampling(temperature=1.0, seed=5)
DIGITS = 'root ::= "OK" [0-9]{3,30} "\\n"'
SYSTEM = Message("system", "long instructions " * 20)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of each kind."""
    directory = tmp_path_factory.mktemp("kinds")
    return write_tiny_model(directory / f"{request.param}.gguf", architecture=request.param)


@pytest.fixture
def model(path: Path) -> Iterator[LlamaModel]:
    with LlamaModel(path, threads=1, warm_start=False) as model:
        yield model


def chat(question: str) -> list[Message]:
    return [SYSTEM, Message("user", question)]


def reply(context: Context, grammar: str | None = DIGITS, sampling: Sampling = WARM) -> str:
    return "".join(islice(context.generate(grammar, sampling), 200))


def replies(model: LlamaModel, requests: Sequence[Request]) -> list[str]:
    texts = [""] * len(requests)
    for number, piece in model.generate_many(requests):
        texts[number] += piece
    return texts


# -- nothing is read twice -----------------------------------------------------------


def test_a_run_of_five_steps_reads_each_token_once(model: LlamaModel) -> None:
    context = model.start(chat("q"), fixed=True)
    for step in range(5):
        assert re.fullmatch(r"OK\d{3,30}\n", reply(context))
        context.append(Message("user", f"observation {step}"))
    reply(context)
    # The last token is fed back too: only then is it known that the reply ends there.
    assert context.usage.evaluated == len(context.tokens)


def test_an_agents_run_of_five_steps_reads_each_token_once(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    @tool
    def look(number: int) -> str:
        """Look something up."""
        return f"{number}: nothing yet, look again " * 3

    contexts = []
    start = model.start

    def started(*args: Any, **options: Any) -> Context:
        contexts.append(start(*args, **options))
        return contexts[-1]

    monkeypatch.setattr(model, "start", started)
    # Grammars without Finish until the last step, so that there are five of them.
    for name in ("step_grammar", "action_grammar"):
        whole = getattr(protocol, name)
        monkeypatch.setattr(
            protocol,
            name,
            lambda tools, *rest, whole=whole, must_call=False: whole(
                tools, *rest, must_call=bool(tools)
            ),
        )
    monkeypatch.setattr(Loop, "_sureness", lambda *_: 9.0)  # which reads a prompt too
    Agent(model, [look], max_steps=1).run("q")  # reads what every run begins with
    for seed in range(200):  # until it calls something else each time
        sampling = Sampling(temperature=1.0, seed=seed)
        run = Agent(model, [look], max_steps=5, thought_tokens=20, sampling=sampling).run("q")
        context = contexts.pop()
        if [step.reply for step in run.steps] == [1, 2, 3, 4, 5]:
            break
    assert [step.reply for step in run.steps] == [1, 2, 3, 4, 5]
    # The last token is read only where it was not known that it was the last.
    new = len(context.tokens) - context.fixed
    assert new - 1 <= run.usage.evaluated <= new
    assert run.usage.evaluated == sum(step.usage.evaluated for step in run.steps)
    for before, step in zip(run.steps, run.steps[1:], strict=False):
        # A token is a byte here: what it read is the turn, the Observation, and its own.
        seen = len((before.observation or "").encode()) + len("Observation: ")
        assert step.usage.evaluated - step.usage.generated - seen < 100 < context.fixed


def test_a_second_question_reads_its_own_tokens_alone(model: LlamaModel) -> None:
    first, second = (model.start(chat(text), fixed=True) for text in ("one", "two, longer"))
    reply(first)
    reply(second)
    assert first.usage.evaluated == len(first.tokens)
    assert second.usage.evaluated == len(second.tokens) - second.fixed
    assert second.fixed > 300


def test_a_question_is_answered_alike_whatever_was_asked_before(path: Path) -> None:
    def answer(model: LlamaModel, question: str) -> str:
        return reply(model.start(chat(question), fixed=True), None, Sampling())

    with LlamaModel(path, threads=1, warm_start=False) as model:
        alone = answer(model, "two")
    with LlamaModel(path, threads=1, warm_start=False) as model:
        answer(model, "one, and longer")
        assert answer(model, "two") == answer(model, "two") == alone


def test_other_instructions_leave_nothing_in_the_cells_before(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path))
    with LlamaModel(path, threads=1) as model:
        for system in ("answer at length " * 20, "be brief " * 30):
            context = model.start([Message("system", system), Message("user", "one")], fixed=True)
            reply(context)
        # Where a context lies decides in which order its sums are made.
        assert [len(tokens) for tokens in model.engine._slots._trunks] == [context.fixed]


def test_a_conversation_reads_its_new_tokens_alone(model: LlamaModel) -> None:
    context = model.start(chat("first"), fixed=True)
    for turn in range(3):
        before = context.usage.evaluated
        held = len(context.tokens)
        reply(context)
        context.append(Message("user", f"and then? {turn}"))
        if turn:
            assert context.usage.evaluated - before <= len(context.tokens) - held + 40


def test_contexts_that_take_turns_read_nothing_again(model: LlamaModel) -> None:
    contexts = [model.start(chat(name * 50), fixed=True) for name in "ab"]
    for turn in range(3):
        for context in contexts:
            assert re.fullmatch(r"OK\d{3,30}\n", reply(context))
            context.append(Message("user", f"more {turn}"))
    for context in contexts:
        reply(context)
    first, second = contexts
    assert first.usage.evaluated == len(first.tokens)
    assert second.usage.evaluated == len(second.tokens) - second.fixed


# -- several at once -----------------------------------------------------------------


def test_forks_share_what_was_read_and_go_on_apart(model: LlamaModel) -> None:
    context = model.start(chat("q"), fixed=True)
    forks = context.fork(5)
    texts = replies(
        model, [Request(fork, DIGITS, Sampling(1.0, seed)) for seed, fork in enumerate(forks)]
    )
    assert all(re.fullmatch(r"OK\d{3,30}\n", text) for text in texts)
    assert len(set(texts)) > 1
    assert context.usage.evaluated == len(context.tokens) - 1
    for fork in forks:
        assert fork.usage.evaluated == len(fork.tokens) - len(context.tokens) + 1
    # Each goes on for itself, and so does what they came from.
    for one in (*forks, context):
        one.append(Message("user", "more"))
        assert re.fullmatch(r"OK\d{3,30}\n", reply(one))


def test_a_fork_in_the_middle_of_a_run_goes_on_from_there(model: LlamaModel) -> None:
    context = model.start(chat("q"), fixed=True)
    reply(context)
    [fork] = context.fork(1)  # its last token is read, which a state cannot give up
    for one in (fork, context):
        one.append(Message("user", "more"))
        assert re.fullmatch(r"OK\d{3,30}\n", reply(one))
    assert list(fork.tokens[: len(context.tokens) // 2]) == list(
        context.tokens[: len(context.tokens) // 2]
    )


def test_many_questions_are_answered_at_once_each_under_its_own_grammar(model: LlamaModel) -> None:
    letters = "abcde"
    requests = [
        Request(model.start(chat(letter * 9), fixed=True), f'root ::= "{letter}"{{5,9}} "."', WARM)
        for letter in letters
    ]
    for letter, text in zip(letters, replies(model, requests), strict=True):
        assert re.fullmatch(rf"{letter}{{5,9}}\.", text)
    assert sum(request.context.usage.evaluated for request in requests) < 2 * 400


def test_more_replies_than_the_cache_has_room_for_take_turns(path: Path) -> None:
    with LlamaModel(path, threads=1, context_size=512, warm_start=False) as model:
        requests = [
            Request(model.start([Message("user", f"{n} " + "x" * 100)]), DIGITS, WARM)
            for n in range(12)
        ]
        texts = replies(model, requests)
    assert all(re.fullmatch(r"OK\d{3,30}\n", text) for text in texts)


def test_replies_that_outgrow_the_cache_together_are_written_all_the_same(path: Path) -> None:
    long = 'root ::= [a-z]{240} "\\n"'
    with LlamaModel(path, threads=1, context_size=512, warm_start=False) as model:
        forks = model.start([Message("user", "x")]).fork(3)
        texts = replies(
            model, [Request(fork, long, Sampling(1.0, n)) for n, fork in enumerate(forks)]
        )
    assert all(re.fullmatch(r"[a-z]{240}\n", text) for text in texts)


def test_one_reply_may_be_cut_short_and_the_others_go_on(model: LlamaModel) -> None:
    stop = Event()
    contexts = [model.start(chat("a"), cancel=stop), model.start(chat("b")), model.start(chat("c"))]
    requests = [
        Request(context, "root ::= [a-z]{50}", WARM, most)
        for context, most in zip(contexts, (None, 7, None), strict=True)
    ]
    pieces = [0] * 3
    for number, _ in model.generate_many(requests):
        pieces[number] += 1
        if pieces[0] == 3:
            stop.set()
    assert pieces[:2] == [3, 7]
    assert pieces[2] > 25


def test_two_requests_for_one_context_are_refused(model: LlamaModel) -> None:
    context = model.start(chat("q"))
    with pytest.raises(UsageError, match="fork"):
        replies(model, [Request(context), Request(context)])


def test_a_grammar_that_does_not_compile_stops_all_before_the_first_token(
    model: LlamaModel,
) -> None:
    requests = [Request(model.start(chat("q")), grammar) for grammar in (DIGITS, "root ::= (")]
    with pytest.raises(GrammarError):
        replies(model, requests)
    assert re.fullmatch(r"OK\d{3,30}\n", reply(model.start(chat("q"))))


# -- cancelling ----------------------------------------------------------------------


def test_what_was_cancelled_before_it_began_reads_nothing(model: LlamaModel) -> None:
    stop = Event()
    stop.set()
    context = model.start(chat("q"), fixed=True, cancel=stop)
    assert reply(context) == ""
    assert context.usage.evaluated == 0


def test_cancelling_while_a_long_text_is_read_leaves_the_others_as_they_were(
    path: Path,
) -> None:
    class Soon(Event):
        """Is set once it has been asked about for a while: within the first batch."""

        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 20

    with LlamaModel(path, threads=1, warm_start=False) as model:
        other = model.start(chat("other"), fixed=True)
        reply(other)
        other.append(Message("user", "more"))
        stopped = model.start(chat("x" * 3000), fixed=True, cancel=Soon())
        assert reply(stopped) == ""
        assert stopped.usage.evaluated < len(stopped.tokens) - stopped.fixed
        after = reply(other, None, Sampling())
    with LlamaModel(path, threads=1, warm_start=False) as model:
        other = model.start(chat("other"), fixed=True)
        reply(other)
        other.append(Message("user", "more"))
        assert reply(other, None, Sampling()) == after


@pytest.mark.parametrize("where", ["decode", "logits", "state", "restore", "copy"])
def test_ctrl_c_at_any_moment_leaves_the_model_as_it_was(
    path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers(model: LlamaModel) -> list[str]:
        context = model.start(chat("q"), fixed=True)
        first = list(islice(context.generate(None, Sampling()), 30))
        context.append(Message("user", "more"))
        return [*first, *islice(context.generate(None, Sampling()), 30)]

    with LlamaModel(path, threads=1, warm_start=False) as model:
        expected = answers(model)
    real = getattr(Evaluator, where)
    for moment in range(1, 6):
        calls = iter(range(1, 1000))

        def pressed(*args: Any, moment: int = moment, calls: Iterator[int] = calls) -> Any:
            found = real(*args)
            if next(calls) == moment:  # it is done, and nothing is noted yet
                raise KeyboardInterrupt
            return found

        with LlamaModel(path, threads=1, warm_start=False) as model:
            with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
                patch.setattr(Evaluator, where, pressed)
                answers(model)
            assert answers(model) == expected


# -- a warm start --------------------------------------------------------------------


def ask(path: Path, question: str) -> tuple[str, int]:
    """Return what a new process would answer, and how many tokens it reads for it."""
    with LlamaModel(path, threads=1) as model:
        context = model.start(chat(question), fixed=True)
        text = reply(context, None, Sampling())
        return text, context.usage.evaluated - context.usage.generated


def kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "prefixes").glob("*"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path))
    return tmp_path


def test_the_next_process_reads_its_question_alone_and_answers_alike(
    path: Path, cache: Path
) -> None:
    cold, all_tokens = ask(path, "q")
    warm, few = ask(path, "q")
    assert warm == cold
    assert few < 40 < 300 < all_tokens
    assert len(kept(cache)) == 1


def test_what_is_kept_holds_nothing_of_the_question(path: Path, cache: Path) -> None:
    ask(path, "my secret illness")
    [first] = kept(cache)
    data = first.read_bytes()
    first.unlink()
    ask(path, "something else entirely, and longer")
    # The same bytes whatever was asked, and no more tokens than the instructions have.
    assert [entry.read_bytes() for entry in kept(cache)] == [data]
    [entry] = PrefixCache(cache / "prefixes").entries()
    with LlamaModel(path, threads=1) as model:
        assert entry.tokens == model.start(chat(""), fixed=True).fixed


def test_only_what_is_said_to_be_fixed_is_kept(path: Path, cache: Path) -> None:
    with LlamaModel(path, threads=1) as model:
        reply(model.start(chat("q")))
    assert kept(cache) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "noise", "header"])
def test_a_damaged_file_is_dropped_and_made_again(path: Path, cache: Path, damage: str) -> None:
    cold, _ = ask(path, "q")
    [file] = kept(cache)
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(
        {
            "cut": data[:middle],
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "noise": b"\0" * 999,
            "header": data.replace(b"crc32", b"crc33"),
        }[damage]
    )
    again, read = ask(path, "q")
    assert again == cold
    assert read > 300
    assert [entry.read_bytes() for entry in kept(cache)] == [data]
    assert ask(path, "q")[1] < 40


def test_bytes_that_llama_cpp_refuses_are_dropped_and_made_again(path: Path, cache: Path) -> None:
    cold, _ = ask(path, "q")
    [file] = kept(cache)
    PrefixCache(cache / "prefixes").save(
        file.stem, np.ones(5000, dtype=np.uint8), model="x", tokens=1
    )
    again, read = ask(path, "q")
    assert (again, read > 300) == (cold, True)


def test_another_model_or_setting_or_prefix_has_an_entry_of_its_own(
    path: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def begin(model_path: Path, system: str = "s" * 50, **options: object) -> None:
        with LlamaModel(model_path, threads=1, **options) as model:  # type: ignore[arg-type]
            reply(model.start([Message("system", system), Message("user", "q")], fixed=True))

    begin(path)
    begin(path)
    begin(path, "other tools" * 9)
    begin(path, cache_type_k="f32")
    begin(path, context_size=1024)
    other = tmp_path_factory.mktemp("other") / path.name
    begin(write_tiny_model(other, architecture=path.stem, seed=1))
    assert len(kept(cache)) == 5


def test_a_directory_that_cannot_be_written_costs_nothing_but_the_warm_start(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path / "file"))
    assert ask(path, "q")[1] > 300
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    assert ask(path, "q")[1] > 300


# -- what the grammar leaves no choice of --------------------------------------------


def test_what_has_to_come_is_not_chosen_but_read_with_the_prompt(model: LlamaModel) -> None:
    grammar = 'root ::= "Thought: " [a-z]{5} "."'
    context = model.start(chat("q"), fixed=True)
    pieces = list(context.generate(grammar, WARM))
    assert re.fullmatch(r"Thought: [a-z]{5}\.", "".join(pieces))
    forced = len(model.vocabulary.tokenize("Thought: ")) - 1  # the last might be part of another
    assert context.usage.generated == len(model.vocabulary.tokenize("".join(pieces))) - forced
    assert context.usage.evaluated == len(context.tokens)
    # The same is said where it is chosen, token by token.
    chosen = 'root ::= x [a-z]{5} "."\nx ::= "Thought: "'
    again = reply(model.start(chat("q"), fixed=True), chosen, WARM)
    assert re.fullmatch(r"Thought: [a-z]{5}\.", again)


def test_nothing_is_forced_where_there_is_no_room(path: Path) -> None:
    with LlamaModel(path, threads=1, context_size=256, warm_start=False) as model:
        context = model.start([Message("user", "x" * 200)])
        while context.room > 3:
            context.force("y")
        assert reply(context, 'root ::= "Thought: " [a-z]{5}', WARM) in ("T", "Th", "Tho")
        assert context.room == 0


# -- models that always think --------------------------------------------------------


THINKING = (
    TEMPLATE.replace("<|im_start|>assistant\n", "<|im_start|>assistant\n{{ '' }}<think>\n")
    + "{# </think> #}"
)


def test_a_model_whose_template_opens_the_thoughts_thinks_up_to_the_cap(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "t.gguf", template=THINKING, control=("<think>", "</think>"))
    with LlamaModel(path, threads=1, warm_start=False) as model:
        context = model.start(chat("q"))
        before = len(context.tokens)
        assert model.prompt(chat("q")).endswith("<think>\n")
        thought = list(context.think(30))
        assert 1 <= len(thought) <= 30
        text = model.vocabulary.text_of(context.tokens[before:])
        assert "</think>" in text and text.endswith("\n\n")
        assert re.fullmatch(r"OK\d{3,30}\n", reply(context))
        assert context.usage.evaluated == len(context.tokens)


def test_other_models_do_not_think(model: LlamaModel) -> None:
    assert list(model.start(chat("q")).think(30)) == []


# -- loading -------------------------------------------------------------------------


def test_a_model_that_cannot_fit_is_refused_with_the_figures(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import local_react.backends.llama.loading as loading

    monkeypatch.setattr(loading, "available_memory", lambda: 10_000_000)
    with pytest.raises(ModelError, match=r"needs 0\.\d GiB of memory.*0\.0 GiB are available"):
        LlamaModel(path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cache_type_k": "q9"}, "--cache-type-k"),
        ({"cache_type_v": "q8_0", "flash_attention": "off"}, "flash"),
    ],
)
def test_cache_types_that_cannot_work_are_refused(
    tiny_path: Path, options: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        LlamaModel(tiny_path, **options)  # type: ignore[arg-type]


# -- what a second pair of eyes broke ------------------------------------------------


def test_a_small_context_with_many_forks_reads_no_more_at_once_than_it_can(path: Path) -> None:
    with LlamaModel(path, threads=1, context_size=256, warm_start=False) as model:
        forks = model.start([Message("user", "x" * 80)]).fork(5)
        reply(model.start([Message("user", "y" * 190)]))  # takes their places
        texts = replies(model, [Request(fork, "root ::= [a-z]{9}", WARM) for fork in forks])
    assert [len(text) for text in texts] == [9] * 5


def test_a_context_of_another_model_is_refused(path: Path) -> None:
    with (
        LlamaModel(path, threads=1, warm_start=False) as one,
        LlamaModel(path, threads=1, warm_start=False) as other,
        pytest.raises(UsageError, match="another model"),
    ):
        replies(one, [Request(other.start(chat("q")))])


def test_what_has_to_come_is_not_written_twice_after_ctrl_c(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = 'root ::= "Thought: " [a-z]{5}'
    context = model.start(chat("q"), fixed=True)
    before = len(context.tokens)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Evaluator, "logits", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        reply(context, grammar)
    assert len(context.tokens) == before
    assert re.fullmatch(r"Thought: [a-z]{5}", reply(context, grammar))
    assert model.vocabulary.text_of(context.tokens[before:]).count("Thought") == 1


def test_what_has_to_come_never_passes_the_window_nor_the_most(path: Path) -> None:
    grammar = 'root ::= "' + "日" * 50 + '" "x"'
    with LlamaModel(path, threads=1, context_size=256, warm_start=False) as model:
        context = model.start([Message("user", "x" * 150)])
        reply(context, grammar)
        assert context.room == 0
        short = model.start([Message("user", "x")])
        list(model.generate_many([Request(short, grammar, WARM, 2)]))
        assert short.usage.generated == 2


def test_the_penalty_leaves_the_logits_as_they_were(model: LlamaModel) -> None:
    def second(sampling: Sampling) -> str:
        context = model.start(chat("q"), fixed=True)
        reply(context, "root ::= [a-z]{5}", sampling)
        return reply(context, "root ::= [a-z]{5}", Sampling())

    penalty = Sampling(repeat_penalty=2.0)
    with_penalty, without = (second(sampling) for sampling in (penalty, Sampling(top_k=1)))
    assert len(with_penalty) == len(without) == 5


def test_thoughts_never_pass_the_window(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "t.gguf", template=THINKING, control=("<think>", "</think>"))
    with LlamaModel(path, threads=1, context_size=256, warm_start=False) as model:
        for room in range(12):
            context = model.start([Message("user", "x")])
            while context.room > room:
                context.force("y")
            list(context.think(50))
            assert context.room >= 0


def test_two_threads_read_texts_as_they_are(model: LlamaModel) -> None:
    expected = model.prompt(chat("q"))
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(lambda _: model.prompt(chat("q")), range(60))) == {expected}


@pytest.mark.parametrize("temperature", [1e-8, 1e-50, 1e-3])
def test_a_temperature_next_to_nothing_is_as_good_as_nothing(
    model: LlamaModel, temperature: float
) -> None:
    texts = [
        reply(model.start(chat("q"), fixed=True), "root ::= [a-z]{9}", Sampling(t, top_k=k))
        for t, k in ((0.0, 0), (temperature, 0), (temperature, 5))
    ]
    assert len(set(texts)) == 1


def test_a_window_that_lost_its_first_tokens_is_read_again(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "gemma3.gguf", architecture="gemma3")

    def logits(model: LlamaModel, context: LlamaContext) -> np.ndarray:
        while not (ready := model.engine.read([context])):
            pass
        return np.array(ready[0][1])

    exact: dict[str, Any] = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attention": "off"}
    with LlamaModel(path, threads=1, context_size=1024, warm_start=False, **exact) as model:
        alone = logits(model, model.start([Message("user", "a" * 60)]))
        junk = model.start([Message("user", "j" * 30)])
        logits(model, junk)
        context = model.start([Message("user", "a" * 60)])
        logits(model, context)
        del junk
        reply(model.start([Message("user", "zz" * 60)]))  # takes cells beyond the window
        assert np.abs(logits(model, context) - alone).max() < 1e-3


def test_a_model_that_nobody_has_any_more_gives_its_memory_back(path: Path) -> None:
    model = LlamaModel(path, threads=1, warm_start=False)
    reply(model.start(chat("q")))
    free = model._free
    del model
    gc.collect()
    assert not free.alive
