from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Role
from allears.errors import AllearsError
from allears.labels import POLARITY_OF

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "read_voices.py"


@pytest.fixture(scope="module")
def benchmark() -> Any:
    specification = importlib.util.spec_from_file_location("read_voices_benchmark", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # a dataclass looks for its own module
    specification.loader.exec_module(module)
    return module


def row(reply: str, *turns: str, **changes: Any) -> dict[str, Any]:
    return {"reply": reply, "turns": list(turns), "others": [], "refused": []} | changes


def test_the_conversations_are_a_hundred_of_all_emotions_and_the_person_speaks_last(benchmark: Any):
    contexts = benchmark.read_contexts(benchmark.CONTEXTS)
    assert len(contexts) == 100
    assert {context.emotion for context in contexts} == set(POLARITY_OF)
    assert all(context.turns[-1].speaker is Role.SEEKER for context in contexts)
    assert {len(context.turns) for context in contexts} == {1, 2, 3, 4, 5}


def test_a_line_that_is_no_conversation_is_named(benchmark: Any, tmp_path: Path):
    broken = tmp_path / "contexts.jsonl"
    broken.write_text('{"turns": ["hello"]}\n{"said": 1}\n', encoding="utf-8")
    with pytest.raises(AllearsError, match="line 2: write"):
        benchmark.read_contexts(broken)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "nothing to say"),
        ("Oh no.", "shorter than three words"),
        ("You will see it and you will see it again.", "repeats itself"),
        ("So the barn burned down last night?", "four words of the person's in a row"),
        ("Oh, what did you see there?", "four words of an earlier reply in a row"),
        ("I am a real person.", "refused by the review"),
        ("Hello, nice to meet you here.", "greets in the middle"),
    ],
)
def test_what_needs_no_reader_is_counted(benchmark: Any, reply: str, fault: str):
    talk = ("It was late.", "What did you see there?", "The barn burned down last night.")
    assert benchmark.faults(row(reply, *talk)) == [fault]
    assert benchmark.faults(row("That must have been a fright.", *talk)) == []


def test_a_reply_that_was_given_to_somebody_else_is_counted_once(benchmark: Any):
    rows = [
        row("How sad that is.", "a"),
        row("How sad that is.", "b", refused=["x"]),
        row("A fine day it is.", "c"),
    ]
    found = benchmark.counts(rows)
    assert found["like an earlier one"] == 1
    assert (found["proposals"], found["proposals refused"]) == (4, 1)


def test_every_conversation_has_one_mark_before_and_after(benchmark: Any):
    marks = json.loads(benchmark.MARKS.read_text(encoding="utf-8"))["voices"]
    assert set(marks) == {"small", "smollm2"}
    for times in marks.values():
        for when in ("before", "after"):
            numbers = [number for group in times[when]["numbers"].values() for number in group]
            assert sorted(numbers) == list(range(100))
            assert times[when]["counts"] == {
                name: len(group) for name, group in times[when]["numbers"].items()
            }
    assert "| off the point |" in benchmark.marks_table(benchmark.MARKS)
