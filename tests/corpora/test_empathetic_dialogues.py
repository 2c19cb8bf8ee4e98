from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import PAPER_RULES, CorpusError, examples, read
from made_up_corpora import ED, ED_HEADER, ED_ROWS, write_bytes

CSV = (ED_HEADER + ED_ROWS).encode()


def read_rows(tmp_path: Path, rows: str, **more: object):  # type: ignore[no-untyped-def]
    write_bytes(tmp_path / "train.csv", (ED_HEADER + rows).encode("utf-8", "surrogateescape"))
    return list(read("ed", "train", tmp_path, **more))  # type: ignore[arg-type]


def test_commas_are_restored_and_the_first_speaker_is_the_seeker(tmp_path: Path):
    first = next(read("ed", "train", ED.write(tmp_path)))
    assert first.id == "hit:0_conv:1"
    assert first.emotion == "proud"
    assert first.situation == "My plant grew, at last."
    assert first.turns[:2] == (
        Turn(Role.SEEKER, "My fern grew, finally!", author="7"),
        Turn(Role.SUPPORTER, "How tall is it?", author="3"),
    )


@pytest.mark.parametrize("name", ["empatheticdialogues.tar.gz", "empatheticdialogues.tar"])
def test_the_official_tarball_is_read_as_it_is(name: str, tmp_path: Path):
    with tarfile.open(tmp_path / name, "w:gz" if name.endswith("gz") else "w") as tar:
        for member, data in (("._train.csv", b"macOS"), ("train.csv", CSV), ("valid.csv", CSV)):
            info = tarfile.TarInfo(f"empatheticdialogues/{member}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    assert len(list(read("ed", "train", tmp_path))) == 3
    assert len(list(read("ed", "valid", tmp_path / name))) == 3
    with pytest.raises(CorpusError, match="none of the expected files is here"):
        read("ed", "test", tmp_path)


def test_a_zip_is_read_as_well(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "empatheticdialogues.zip", "w") as archive:
        archive.writestr("empatheticdialogues/train.csv", CSV)
    assert len(list(read("ed", "train", tmp_path))) == 3


def test_candidates_in_further_columns_are_left(tmp_path: Path):
    (talk,) = read_rows(tmp_path, "c,1,sad,It broke.,1,It broke.,,,one,two,three\n")
    assert [turn.text for turn in talk.turns] == ["It broke."]


def test_quote_marks_are_text(tmp_path: Path):
    (talk,) = read_rows(tmp_path, 'c,1,sad,It broke.,1,"It broke,,\nc,2,sad,It broke.,2,Said "who"?,,\n')
    assert [turn.text for turn in talk.turns] == ['"It broke', 'Said "who"?']


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("c,1,sad\n", "line 2: expected at least 6 columns, got 3"),
        ("c,1,green,It broke.,1,It broke.,,\n", "line 2: unknown emotion 'green' in the column 'context'"),
        ("c,1,sad,It broke.,1,,,\n", "line 2: an empty conv_id or utterance"),
        ("c,1,sad,It broke.,1,It br\udcffke.,,\n", "line 2: not valid UTF-8"),
        ("c,1,sad,It broke.,\udcff,It broke.,,\n", "line 2: not valid UTF-8"),
        ("c,1,sad,It broke.,1,It\rbroke.,,\n", "line 2: not a CSV row"),
        (f"c,1,sad,It broke.,1,{'a' * 200_000},,\n", "line 2: not a CSV row"),
    ],
)
def test_a_broken_row_names_the_line_and_what_was_expected(row: str, problem: str, tmp_path: Path):
    with pytest.raises(CorpusError, match=problem):
        read_rows(tmp_path, row)
    bad: list[CorpusError] = []
    assert len(read_rows(tmp_path, row + ED_ROWS, on_bad=bad.append)) == 3
    assert [error.line for error in bad] == [2]


def test_other_columns_are_named_beside_the_expected_ones(tmp_path: Path):
    write_bytes(tmp_path / "train.csv", b"id,text\n1,hello\n")
    with pytest.raises(CorpusError, match=r"line 1: expected the columns conv_id, .*, got id, text"):
        list(read("ed", "train", tmp_path))


def test_the_supporter_stays_the_supporter_when_the_opening_row_is_skipped(tmp_path: Path):
    rows = ED_ROWS.replace("hit:2_conv:3,1,afraid", "hit:2_conv:3,1,purple")
    talk = read_rows(tmp_path, rows, on_bad=lambda error: None)[-1]
    assert [(turn.speaker, turn.text) for turn in talk.turns] == [(Role.SUPPORTER, "Did help come?")]


@pytest.mark.corpus
def test_the_published_counts_hold(data_root: Path):
    train = list(read("ed", "train", data_root))
    assert len(train) == 19_532
    assert sum(len(talk.turns) for talk in train) == 84_165
    assert sum(1 for _ in examples(train, PAPER_RULES["ed"])) == 40_252
    assert sum(1 for _ in read("ed", "valid", data_root)) == 2_769
