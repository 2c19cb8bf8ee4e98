from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import CorpusError, read
from made_up_corpora import DAILY_DIALOG, write_bytes

TEXT = "dialogues_validation.txt"
ACTS = "dialogues_act_validation.txt"


def zipped(prefix: str = "validation/") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("validation/", "")
        for name, text in DAILY_DIALOG.files.items():
            archive.writestr(prefix + Path(name).name, text)
            archive.writestr("__MACOSX/._" + Path(name).name, "macOS")
    return data.getvalue()


def test_acts_and_emotions_are_named_and_people_take_turns(tmp_path: Path):
    first = next(read("dailydialog", "valid", DAILY_DIALOG.write(tmp_path)))
    assert first.turns == (
        Turn(Role.SEEKER, "Is this seat free ?", intent="question", emotion="none"),
        Turn(Role.SUPPORTER, "Yes , do sit .", intent="inform", emotion="none"),
        Turn(Role.SEEKER, "Thank you !", intent="inform", emotion="happiness"),
    )


def test_a_label_too_few_or_too_many_keeps_the_turns(tmp_path: Path):
    *_, third = read("dailydialog", "valid", DAILY_DIALOG.write(tmp_path))
    assert [turn.intent for turn in third.turns] == ["inform", "inform", None]
    assert [turn.emotion for turn in third.turns] == ["none", "surprise", "fear"]


def test_exact_duplicates_are_kept(tmp_path: Path):
    DAILY_DIALOG.write(tmp_path)
    for name in DAILY_DIALOG.files:
        first_line = (tmp_path / name).read_text().split("\n")[0] + "\n"
        (tmp_path / name).write_text(first_line * 2)
    one, two = read("dailydialog", "valid", tmp_path)
    assert one.turns == two.turns
    assert one.id != two.id


@pytest.mark.parametrize(
    "place",
    [
        "dailydialog/validation.zip",
        "validation.zip",
        "ijcnlp_dailydialog/validation.zip",
        "ijcnlp_dailydialog.zip",
        "dailydialog.zip",
    ],
)
def test_the_official_zip_is_found_and_read(place: str, tmp_path: Path):
    plain = list(read("dailydialog", "valid", DAILY_DIALOG.write(tmp_path / "plain")))
    write_bytes(tmp_path / "zip" / place, zipped())
    assert list(read("dailydialog", "valid", tmp_path / "zip")) == plain
    assert list(read("dailydialog", "valid", tmp_path / "zip" / place)) == plain


def test_zips_within_the_official_zip_are_opened_too(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "ijcnlp_dailydialog.zip", "w", zipfile.ZIP_DEFLATED) as outer:
        outer.writestr("ijcnlp_dailydialog/readme.txt", "about")
        outer.writestr("ijcnlp_dailydialog/validation.zip", zipped())
    found = list(read("dailydialog", "valid", tmp_path))
    assert found == list(read("dailydialog", "valid", DAILY_DIALOG.write(tmp_path / "plain")))


def test_a_broken_zip_within_the_zip_is_a_broken_archive(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "ijcnlp_dailydialog.zip", "w") as outer:
        outer.writestr("ijcnlp_dailydialog/validation.zip", zipped()[:-30])
    with pytest.raises(CorpusError, match="broken or cut short"):
        list(read("dailydialog", "valid", tmp_path))


@pytest.mark.parametrize("folder", ["validation", "ijcnlp_dailydialog/validation", "."])
def test_unpacked_folders_are_read(folder: str, tmp_path: Path):
    for name, text in DAILY_DIALOG.files.items():
        write_bytes(tmp_path / folder / Path(name).name, text.encode())
    assert len(list(read("dailydialog", "valid", tmp_path))) == 3


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (ACTS, "3 4", "3 5", f"{ACTS}, line 2: expected a number from 1 to 4 per utterance, got '5'"),
        (ACTS, "3 4", "three", f"{ACTS}, line 2: expected a number from 1 to 4 per utterance, got 'three'"),
        (TEXT, "I will .", "", f"{TEXT}, line 2: expected utterances that each end in __eou__, none empty"),
        (TEXT, "I will . __eou__", "I", f"{TEXT}, line 2: expected utterances that each end in __eou__"),
        (ACTS, "1 1 \n", "", f"{ACTS}, line 3: the file ends before this line"),
    ],
)
def test_what_does_not_fit_names_its_own_file(name: str, old: str, new: str, problem: str, tmp_path: Path):
    DAILY_DIALOG.write(tmp_path)
    path = tmp_path / "dailydialog/validation" / name
    path.write_text(path.read_text().replace(old, new) if old != "1 1 \n" else "2 1 1 \n3 4 \n")
    with pytest.raises(CorpusError, match=problem):
        list(read("dailydialog", "valid", tmp_path))


def test_missing_label_files_are_named(tmp_path: Path):
    DAILY_DIALOG.write(tmp_path)
    (tmp_path / "dailydialog/validation" / ACTS).unlink()
    with pytest.raises(CorpusError, match=f"{ACTS}: no such file, but it is needed"):
        list(read("dailydialog", "valid", tmp_path))


@pytest.mark.corpus
def test_the_published_counts_hold(data_root: Path):
    train = list(read("dailydialog", "train", data_root))
    assert len(train) == 11_118
    assert sum(len(talk.turns) for talk in train) == 87_171
    assert sum(turn.intent is None for talk in train for turn in talk.turns) == 1  # the label too few
    assert sum(1 for _ in read("dailydialog", "valid", data_root)) == 1_000
