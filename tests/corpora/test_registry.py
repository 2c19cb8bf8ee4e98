from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from allears import corpora
from allears.conversation import Conversation, Role, Turn
from allears.corpora import CorpusError, CorpusInfo, corpus, corpus_names, data_root, read
from allears.corpora.files import OnBad, raise_bad


class Letters:
    """A reader as another package would offer it."""

    info = CorpusInfo(name="letters", title="Letters", licence="mine", page="", about="Letters.")

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        yield Conversation(id="1", turns=(Turn(Role.SEEKER, f"Dear {split},"),), split=split)


class NoReader:
    pass


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch):
    """Let other packages offer these readers: name -> "module:attribute"."""

    def offer(**readers: str) -> None:
        points = [EntryPoint(name, value, corpora.ENTRY_POINT_GROUP) for name, value in readers.items()]
        asked: list[str] = []

        def entry_points(*, group: str) -> list[EntryPoint]:
            asked.append(group)
            return points

        monkeypatch.setattr(corpora, "entry_points", entry_points)
        corpora._from_entry_points.cache_clear()
        assert corpora._from_entry_points().keys() == readers.keys()
        assert asked == ["allears.corpora"]

    yield offer
    corpora._from_entry_points.cache_clear()


def test_a_reader_of_another_package_is_a_corpus_like_any_other(offered, tmp_path: Path):
    offered(letters=f"{__name__}:Letters")
    assert corpus_names()[-1] == "letters"
    assert [talk.turns[0].text for talk in read("letters", "valid", tmp_path)] == ["Dear valid,"]


def test_a_reader_that_cannot_be_loaded_is_named_and_harms_no_other(offered):
    offered(broken="no_such_module:Reader", letters=f"{__name__}:Letters")
    assert {"broken", "letters"} <= set(corpus_names())
    assert corpus("letters").info.title == "Letters"
    with pytest.raises(CorpusError, match=r"the reader 'broken' \(no_such_module:Reader\) cannot be loaded"):
        corpus("broken")


def test_something_that_is_no_reader_is_refused(offered):
    offered(thing=f"{__name__}:NoReader")
    with pytest.raises(CorpusError, match="must have `info` and `read`"):
        corpus("thing")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ED", "ed"),
        ("empathetic_dialogues", "ed"),
        ("persona-chat", "personachat"),
        ("20newsgroups", "20news"),
    ],
)
def test_names_are_forgiving(name: str, expected: str):
    assert corpus(name).info.name == expected


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(CorpusError, match=r"unknown corpus 'edd'; known are ed, ed-intents, .* \.jsonl file"):
        corpus("edd")


def test_the_root_is_what_is_given_or_in_the_environment_or_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ALLEARS_DATA", str(tmp_path / "set"))
    assert data_root(tmp_path) == tmp_path
    assert data_root() == tmp_path / "set"
    monkeypatch.delenv("ALLEARS_DATA")
    assert data_root().parts[-2:] == ("allears", "corpora")
