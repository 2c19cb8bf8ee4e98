"""An annotation that is killed goes on where it stopped, and with nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from allears.conversation import Conversation, Role, Turn
from allears.errors import AllearsError
from allears.evaluation import annotation_file
from allears.evaluation.annotation_file import annotate_to, card_of, part_of

SETTINGS = {"corpus": "mine", "add": "emotion", "limit": None}
TALKS = [Conversation(f"talk-{number}", (Turn(Role.SEEKER, "Ümläut 😀"),)) for number in range(10)]


class KilledError(Exception):
    pass


class Sad:
    """Makes everybody sad, until it is killed."""

    def __init__(self, lives: int = 10_000):
        self.lives, self.seen = lives, []

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        self.seen += [talk.id for talk in conversations]
        self.lives -= len(conversations)
        if self.lives < 0:
            raise KilledError
        return [replace(talk, emotion="sad") for talk in conversations]


@pytest.fixture(autouse=True)
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotation_file, "AT_ONCE", 2)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A file that was begun: six of ten conversations are written."""
    out = tmp_path / "out.jsonl"
    with pytest.raises(KilledError):
        annotate_to(out, TALKS, Sad(lives=7), SETTINGS)
    assert len(part_of(out).read_text(encoding="utf-8").splitlines()) == 6
    return out


def test_a_whole_run_leaves_the_file_and_nothing_else(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    done = annotate_to(out, iter(TALKS), Sad(), SETTINGS)
    assert (done.conversations, done.resumed) == (10, 0)
    found = [Conversation.from_json(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert found == [replace(talk, emotion="sad") for talk in TALKS]
    assert list(tmp_path.iterdir()) == [out]


def test_a_killed_run_goes_on_after_the_last_whole_conversation(killed: Path, tmp_path: Path):
    model = Sad()
    done = annotate_to(killed, TALKS, model, SETTINGS)
    assert (done.conversations, done.resumed) == (10, 6)
    assert model.seen == [talk.id for talk in TALKS[6:]]
    annotate_to(tmp_path / "whole.jsonl", TALKS, Sad(), SETTINGS)
    assert killed.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not card_of(killed).exists()


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_line_that_the_kill_cut_short_is_written_again(killed: Path, tmp_path: Path, cut: int):
    whole = part_of(killed).read_bytes()
    part_of(killed).write_bytes(whole[:-cut])
    assert annotate_to(killed, TALKS, Sad(), SETTINGS).resumed == 5
    annotate_to(tmp_path / "whole.jsonl", TALKS, Sad(), SETTINGS)
    assert killed.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def _without_card(out: Path) -> None:
    card_of(out).unlink()


def _broken_card(out: Path) -> None:
    card_of(out).write_text("{")


def _broken_line(out: Path) -> None:
    part_of(out).write_bytes(b"[]\n" + part_of(out).read_bytes())


@pytest.mark.parametrize(
    ("harm", "settings", "talks", "sentence"),
    [
        (
            None,
            SETTINGS | {"add": "intent"},
            TALKS,
            "begun with other settings (add: 'emotion', now 'intent')",
        ),
        (None, {"corpus": "mine", "add": "emotion", "limit": 4}, TALKS, "limit: None, now 4"),
        (None, SETTINGS, TALKS[1:], "conversation 1 was 'talk-0', now 'talk-1'"),
        (None, SETTINGS, TALKS[:3], "conversation 4 was 'talk-3', now there is none"),
        (_without_card, SETTINGS, TALKS, "begun with unknown settings"),
        (_broken_card, SETTINGS, TALKS, "out.jsonl.part.json: not readable"),
        (_broken_line, SETTINGS, TALKS, "out.jsonl.part, line 1: not a conversation"),
    ],
)
def test_what_does_not_belong_to_the_begun_part_is_refused_and_the_part_is_kept(
    killed: Path, harm: Callable[[Path], None] | None, settings: dict, talks: list, sentence: str
):
    if harm:
        harm(killed)
    before = part_of(killed).read_bytes()
    with pytest.raises(AllearsError) as error:
        annotate_to(killed, talks, Sad(), settings)
    assert sentence in str(error.value)
    assert part_of(killed).read_bytes() == before


def test_a_run_that_wrote_nothing_binds_nobody(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KilledError):
        annotate_to(out, TALKS, Sad(lives=0), SETTINGS)
    assert list(tmp_path.iterdir()) == []
    assert annotate_to(out, TALKS, Sad(), SETTINGS | {"add": "intent"}).conversations == 10


def test_two_runs_cannot_write_the_same_file(tmp_path: Path):
    pytest.importorskip("fcntl")
    out = tmp_path / "out.jsonl"

    def in_the_middle(conversations: Sequence[Conversation]) -> list[Conversation]:
        with pytest.raises(AllearsError, match="another run is writing it right now"):
            annotate_to(out, TALKS, Sad(), SETTINGS)
        return list(conversations)

    assert annotate_to(out, TALKS, in_the_middle, SETTINGS).conversations == 10


def test_files_that_could_not_be_written_are_refused_before_the_work(tmp_path: Path):
    (tmp_path / "there.jsonl").write_text("")
    for name, sentence in (
        ("out.json", "written as .jsonl"),
        ("nowhere/out.jsonl", "does not exist"),
        ("there.jsonl", "is there already"),
    ):
        with pytest.raises(AllearsError, match=sentence):
            annotate_to(tmp_path / name, TALKS, Sad(), SETTINGS)
    with pytest.raises(AllearsError, match="no conversation to annotate"):
        annotate_to(tmp_path / "out.jsonl", [], Sad(), SETTINGS)
    lone = Conversation("x", (Turn(Role.SEEKER, "\ud83d"),))
    with pytest.raises(AllearsError, match="lone surrogate"):
        annotate_to(tmp_path / "out.jsonl", [lone], Sad(), SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["there.jsonl"]


def test_the_card_says_with_what_a_part_was_begun(killed: Path):
    assert json.loads(card_of(killed).read_text()) == SETTINGS
