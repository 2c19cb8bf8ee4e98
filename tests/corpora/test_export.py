from __future__ import annotations

import builtins
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from allears.conversation import Conversation, Example, Persona, PersonaSentence, Role, Turn
from allears.corpora import ExampleRule, corpus, examples
from allears.corpora.export import check_out, export_conversations, export_examples
from allears.corpora.files import CorpusError
from allears.errors import AllearsError

FULL = Conversation(
    id="full",
    turns=(
        Turn(Role.SEEKER, "Tea, “again” — ça va?\nNew line.", author="ann", emotion="calm", feedback=4),
        Turn(Role.SUPPORTER, "Yes.", strategy="Question", intent="questioning"),
    ),
    personas={"ann": Persona((PersonaSentence("i like tea", "turn 1"),)), "supporter": Persona()},
    emotion="calm",
    situation="In a kitchen.",
    problem="none",
    survey={"empathy": 4.5},
    labels={"topic": "tea", "levels": [0, 2], "deep": {"a": None}},
    split="train",
    source="made-up",
)
PLAIN = Conversation(id="plain", turns=(Turn(Role.SEEKER, "Hi."), Turn(Role.SUPPORTER, "Hello.")))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_json_lines_come_back_equal_through_our_own_reader(tmp_path: Path, ending: str):
    out = tmp_path / f"talks{ending}"
    assert export_conversations([FULL, PLAIN], out) == 2
    own = corpus(out)
    back = [talk for split in own.info.splits for talk in own.read(split, tmp_path)]
    assert back[0] == FULL
    assert (back[1].id, back[1].turns) == (PLAIN.id, PLAIN.turns)


def test_parquet_holds_every_field(tmp_path: Path):
    from pyarrow import parquet

    out = tmp_path / "talks.parquet"
    assert export_conversations([FULL, PLAIN], out) == 2
    full, plain = parquet.read_table(out).to_pylist()
    assert [turn["text"] for turn in full["turns"]] == [turn.text for turn in FULL.turns]
    assert full["turns"][0]["feedback"] == 4
    assert full["turns"][1]["strategy"] == "Question"
    assert full["personas"][0] == {"who": "ann", "sentences": [{"text": "i like tea", "source": "turn 1"}]}
    assert dict(full["survey"]) == {"empathy": 4.5}
    assert json.loads(full["labels"]) == FULL.labels
    assert plain["emotion"] is None
    assert plain["labels"] is None


def test_parquet_is_written_in_pieces_without_losing_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from pyarrow import parquet

    monkeypatch.setattr("allears.corpora.export.ROWS_AT_ONCE", 2)
    talks = [Conversation(id=str(n), turns=PLAIN.turns) for n in range(5)]
    assert export_conversations(talks, tmp_path / "talks.parquet") == 5
    file = parquet.ParquetFile(tmp_path / "talks.parquet")
    assert file.num_row_groups == 3
    assert file.read().column("id").to_pylist() == ["0", "1", "2", "3", "4"]


def test_an_empty_split_exports_to_an_empty_file_of_the_right_kind(tmp_path: Path):
    from pyarrow import parquet

    assert export_conversations([], tmp_path / "none.parquet") == 0
    assert parquet.read_table(tmp_path / "none.parquet").num_rows == 0
    assert export_conversations([], tmp_path / "none.jsonl") == 0
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def test_examples_carry_context_response_persona_and_labels(tmp_path: Path):
    persona = Persona((PersonaSentence("i like tea"),))
    talk = Conversation(
        id="x", turns=(*PLAIN.turns, *PLAIN.turns), personas={"supporter": persona}, emotion="calm"
    )
    out = tmp_path / "examples.jsonl"
    assert export_examples(examples([talk], ExampleRule(context_turns=2)), out) == 2
    first, second = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert first == {
        "conversation_id": "x",
        "context": [{"speaker": "seeker", "text": "Hi."}],
        "response": {"speaker": "supporter", "text": "Hello."},
        "persona": [{"text": "i like tea", "source": ""}],
        "labels": {"emotion": "calm"},
    }
    assert [turn["text"] for turn in second["context"]] == ["Hello.", "Hi."]


def test_examples_fit_parquet_too(tmp_path: Path):
    from pyarrow import parquet

    example = Example(
        context=PLAIN.turns[:1], response=PLAIN.turns[1], labels={"emotion": "calm"}, conversation_id="x"
    )
    assert export_examples([example], tmp_path / "examples.parquet") == 1
    (row,) = parquet.read_table(tmp_path / "examples.parquet").to_pylist()
    assert row["response"]["text"] == "Hello."
    assert json.loads(row["labels"]) == {"emotion": "calm"}


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path):
    for name in ("one", "two"):
        export_conversations([FULL], tmp_path / f"{name}.jsonl.gz")
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()).decode() == FULL.to_json() + "\n"


def test_a_complete_export_takes_the_place_of_an_older_one(tmp_path: Path):
    out = tmp_path / "talks.jsonl"
    out.write_bytes(b"the old one")
    export_conversations([PLAIN], out)
    assert out.read_text(encoding="utf-8") == PLAIN.to_json() + "\n"


def broken_halfway() -> Iterator[Conversation]:
    yield PLAIN
    raise CorpusError("broken or cut short")


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_when_reading_fails_halfway_the_old_file_stays_and_no_rest_is_left(tmp_path: Path, ending: str):
    out = tmp_path / f"talks{ending}"
    out.write_bytes(b"the old one")
    with pytest.raises(CorpusError):
        export_conversations(broken_halfway(), out)
    assert out.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [out]


def test_text_that_is_no_text_is_one_sentence(tmp_path: Path):
    broken = Conversation(id="x", turns=(Turn(Role.SEEKER, "\ud800"),))
    with pytest.raises(AllearsError, match="lone surrogate"):
        export_conversations([broken], tmp_path / "out.jsonl")
    with pytest.raises(AllearsError, match="rows 1 to 1 do not fit Parquet"):
        export_conversations([broken], tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_refused_before_reading(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"an export ends in \.jsonl"):
        check_out(tmp_path / "out.csv")
    with pytest.raises(AllearsError, match="does not exist"):
        check_out(tmp_path / "nowhere" / "out.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(AllearsError, match="a folder, not a file"):
        check_out(tmp_path / "folder.jsonl")


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(AllearsError, match=r"out\.jsonl: cannot write \(No space left on device\)"):
        export_conversations([PLAIN], tmp_path / "out.jsonl")
    assert not list(tmp_path.iterdir())


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def refuse(name: str, *rest: object, **more: object) -> object:
        if name == "pyarrow":
            raise ImportError(name)
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(AllearsError, match=r"allears\[reddit\]"):
        check_out(tmp_path / "out.parquet")
