from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from allears.conversation import Conversation, Role, Turn
from allears.corpora import CorpusInfo, corpus
from allears.corpora.check import BROKEN, DIFFERS, FINE, NOT_HERE, SplitReport, check, splits_here
from allears.corpora.files import CorpusError, NotHereError, OnBad, raise_bad


def talk(id: str, *texts: str, **more: str) -> Conversation:
    roles = (Role.SEEKER, Role.SUPPORTER)
    return Conversation(id=id, turns=tuple(Turn(roles[n % 2], text) for n, text in enumerate(texts)), **more)


class MadeUp:
    """A corpus from a list; an exception in the list is a broken row, at the end of the file or a bad row."""

    def __init__(self, splits: Mapping[str, list[Conversation | CorpusError]], **facts: object) -> None:
        self.splits = splits
        self.info = CorpusInfo(
            name="made-up", title="Made up", licence="none", page="https://example.org", about="", **facts
        )  # type: ignore[arg-type]

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        if split not in self.splits:
            raise NotHereError("none of the expected files is here", source=root)
        for item in self.splits[split]:
            if isinstance(item, CorpusError):
                if item.line is None:
                    raise item
                on_bad(item)
            else:
                yield item


def reports(made_up: MadeUp) -> list[SplitReport]:
    return list(check(made_up, Path()))


def train_report(*conversations: Conversation | CorpusError, **facts: object) -> SplitReport:
    return reports(MadeUp({"train": list(conversations)}, **facts))[0]


def test_a_corpus_as_published_is_fine():
    report = train_report(talk("a", "Hi.", "Hello."), counts={"train": 1}, utterances={"train": 2})
    assert (report.status, report.conversations, report.utterances) == (FINE, 1, 2)
    assert not report.problems
    assert not report.notes


def test_splits_that_are_absent_are_not_here_and_no_problem():
    statuses = {
        report.split: report.status for report in reports(MadeUp({"valid": [talk("a", "Hi.", "Hello.")]}))
    }
    assert statuses == {"train": NOT_HERE, "valid": FINE, "test": NOT_HERE}


def test_a_part_of_the_published_file_differs():
    assert train_report(talk("a", "Hi.", "Hello."), counts={"train": 2}).status == DIFFERS
    assert (
        train_report(talk("a", "Hi.", "Hello."), counts={"train": 1}, utterances={"train": 3}).status
        == DIFFERS
    )


def test_bad_rows_are_problems_with_their_place():
    bad = CorpusError("expected six columns", source=Path("train.csv"), line=7)
    report = train_report(talk("a", "Hi.", "Hello."), bad)
    assert report.status == BROKEN
    assert report.problems == ["train.csv, line 7: expected six columns"]
    assert report.conversations == 1


def test_a_file_that_is_cut_short_is_a_problem_and_not_a_crash():
    report = train_report(
        talk("a", "Hi.", "Hello."), CorpusError("broken or cut short", source=Path("train.csv"))
    )
    assert report.status == BROKEN
    assert "cut short" in report.problems[0]


def test_a_thousand_problems_are_counted_and_twenty_are_kept():
    report = train_report(*(CorpusError("no", source=Path("f"), line=n + 1) for n in range(1000)))
    assert (report.problem_count, len(report.problems)) == (1000, 20)


@pytest.mark.parametrize(
    ("conversation", "sentence"),
    [
        (talk("a"), "'a' has no turns"),
        (talk("a", "Hi.", " "), "turn 2 is empty"),
        (talk("a", "Hi.", "\udcff"), "turn 2 holds characters that are no text"),
        (talk("a", "Hi.", "Hello.", emotion="green"), "unknown emotion 'green'"),
        (talk("a", "Hi.", "Hello.", problem="rain"), "unknown problem 'rain'"),
        (
            Conversation("a", (Turn(Role.SUPPORTER, "Hi.", strategy="Sing"),)),
            "turn 1 has the unknown strategy 'Sing'",
        ),
        (
            Conversation("a", (Turn(Role.SUPPORTER, "Hi.", intent="sell"),)),
            "turn 1 has the unknown intent 'sell'",
        ),
        (
            Conversation("a", (Turn(Role.SEEKER, "Hi.", emotion="blue"),)),
            "turn 1 has the unknown turn emotion 'blue'",
        ),
    ],
)
def test_a_field_that_is_wrong_is_named(conversation: Conversation, sentence: str):
    known = {
        "emotion": ("sad",),
        "problem": ("work",),
        "strategy": ("Question",),
        "intent": ("wishing",),
        "turn emotion": ("calm",),
    }
    report = train_report(conversation, known=known)
    assert report.status == BROKEN
    assert report.problem_count == 1
    assert sentence in report.problems[0]


def test_labels_without_a_closed_set_may_be_anything():
    assert train_report(talk("a", "Hi.", "Hello.", emotion="green")).status == FINE


def test_two_conversations_with_one_id_are_a_problem():
    report = train_report(talk("a", "Hi.", "Hello."), talk("a", "Good morning.", "Good morning."))
    assert report.problems == ["two conversations have the id 'a'"]


def test_mojibake_replacement_characters_and_repeated_speakers_are_notes():
    report = train_report(
        talk("a", "Itâ€™s fine.", "caf\ufffd"),
        talk("b", "It’s fine, naïve café – truly.", "Yes."),
        Conversation("c", (Turn(Role.SEEKER, "One."), Turn(Role.SEEKER, "Two."))),
    )
    assert report.status == FINE
    assert report.notes == {
        "utterances with mojibake": 1,
        "utterances with �": 1,
        "with one speaker twice in a row": 1,
    }


def test_exact_duplicates_are_counted_within_a_split_and_across_splits():
    first, second = talk("a", "Hi.", "Hello."), talk("b", "Hi.", "Hello.")
    train, valid, _ = reports(MadeUp({"train": [first, second], "valid": [talk("c", "Hi.", "Hello.")]}))
    assert train.notes == {"exact duplicates": 1}
    assert valid.notes == {"also in an earlier split": 1}


def test_equal_words_cut_into_other_turns_are_no_duplicate():
    assert not train_report(talk("a", "Hi. Hello.", "Yes."), talk("b", "Hi.", "Hello. Yes.")).notes


def test_a_broken_file_is_here_and_an_absent_one_is_not():
    made_up = MadeUp({"train": [], "test": [CorpusError("a pickle", source=Path("test.pkl"))]})
    assert splits_here(made_up, Path()) == ["train", "test"]


@pytest.mark.corpus
def test_the_real_empathetic_dialogues_are_as_published(data_root: Path):
    train, valid, test = check(corpus("ed"), data_root)
    assert (train.status, train.conversations, train.utterances) == (FINE, 19_532, 84_165)
    assert (valid.status, valid.conversations) == (FINE, 2_769)
    assert test.status == NOT_HERE
