from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from allears.conversation import PersonaSentence, Role, Turn
from allears.corpora import CorpusError, read
from allears.corpora.persona_chat import PersonaChat
from made_up_corpora import PERSONA_CHAT, PROFILES, write_bytes

NO_CANDIDATES = "train_both_original_no_cands.txt"
TEXT = PERSONA_CHAT.files[f"personachat/{NO_CANDIDATES}"]


def read_text(tmp_path: Path, text: str, name: str = NO_CANDIDATES, **variant: object):  # type: ignore[no-untyped-def]
    write_bytes(tmp_path / name, text.encode("utf-8"))
    return list(PersonaChat(**variant).read("train", tmp_path))  # type: ignore[arg-type]


def test_your_persona_is_the_supporters_who_answers_in_the_second_column(tmp_path: Path):
    first = next(read("personachat", "train", PERSONA_CHAT.write(tmp_path)))
    assert first.personas["supporter"].sentences == (PersonaSentence("i keep bees.", "profile"),)
    assert first.personas["seeker"].texts == ("i sail.",)
    assert first.turns[-1] == Turn(Role.SUPPORTER, "i keep bees . and you ?")


def test_silence_means_that_the_supporter_speaks_first(tmp_path: Path):
    first, second, _ = read("personachat", "train", PERSONA_CHAT.write(tmp_path))
    assert [turn.text for turn in first.turns][:2] == ["hello there !", "hi , what do you do ?"]
    assert first.turns[0].speaker is Role.SUPPORTER
    assert second.turns[0].speaker is Role.SEEKER


def test_a_dialogue_begins_where_the_numbers_begin_again(tmp_path: Path):
    found = list(read("personachat", "train", PERSONA_CHAT.write(tmp_path)))
    assert [len(talk.turns) for talk in found] == [3, 2, 2]
    assert [talk.id for talk in found] == [
        "personachat-train-1",
        "personachat-train-5",
        "personachat-train-8",
    ]


def test_candidates_are_kept_once_per_answer_with_the_true_one_among_them(tmp_path: Path):
    text = "1 hi\thello\t\tno|hello\n2 why ?\tbecause\t\tso|because\n"
    (talk,) = read_text(tmp_path, text, "train_both_original.txt")
    assert talk.labels == {"candidates": [["no", "hello"], ["so", "because"]]}
    assert [turn.text for turn in talk.turns] == ["hi", "hello", "why ?", "because"]


def test_the_variant_is_chosen_in_the_constructor(tmp_path: Path):
    for profiles in ("self", "other", "both", "none"):
        for wording in ("original", "revised"):
            for ending in ("", "_no_cands"):
                name = f"train_{profiles}_{wording}{ending}.txt"
                write_bytes(tmp_path / name, f"1 which ?\t{name}\n".encode())

    def chosen(**variant: object) -> str:
        (talk,) = PersonaChat(**variant).read("train", tmp_path)  # type: ignore[arg-type]
        return talk.turns[-1].text

    assert chosen() == "train_both_original_no_cands.txt"
    assert chosen(candidates=True) == "train_both_original.txt"
    assert chosen(profiles="self", wording="revised") == "train_self_revised_no_cands.txt"
    assert chosen(profiles="none", candidates=True) == "train_none_original.txt"
    (tmp_path / "train_both_original_no_cands.txt").unlink()
    assert chosen() == "train_both_original.txt"
    with pytest.raises(CorpusError, match="train_both_original_no_cands"):
        chosen(candidates=False)


def test_the_official_tarball_is_read(tmp_path: Path):
    with tarfile.open(tmp_path / "personachat.tgz", "w:gz") as tar:
        for name in (NO_CANDIDATES, "train_self_original.txt"):
            info = tarfile.TarInfo(f"personachat/{name}")
            info.size = len(TEXT.encode())
            tar.addfile(info, io.BytesIO(TEXT.encode()))
    assert len(list(read("personachat", "train", tmp_path))) == 3
    assert len(list(PersonaChat(profiles="self").read("train", tmp_path))) == 3


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("hello\thi", "line 1: expected a line number, a space and a text"),
        ("1 hello", "line 1: expected a text and its answer, with a tab between them"),
        ("1 hello\t ", "line 1: expected a text and its answer, with a tab between them"),
        ("9999999999 hello\thi", "line 1: expected a line number, a space and a text"),
    ],
)
def test_a_line_of_another_form_is_reported(line: str, problem: str, tmp_path: Path):
    with pytest.raises(CorpusError, match=problem):
        read_text(tmp_path, line + "\n")


def test_profiles_give_both_sides_words_and_sentences(tmp_path: Path):
    first = next(read("personachat-profiles", "train", PROFILES.write(tmp_path)))
    assert first.id == "profile_0"
    assert first.turns == (
        Turn(Role.SEEKER, "hello . i have 0 hives ."),
        Turn(Role.SUPPORTER, "hi . the sea was calm ."),
    )
    assert first.personas["seeker"].texts == ("i keep bees .",)
    assert first.personas["supporter"].texts == ("i sail .", "i am seven .")
    assert first.labels["persona_sentence"] == {"seeker": "i keep bees.", "supporter": "i sail."}


@pytest.mark.corpus
def test_the_counts_of_the_files_here_hold(data_root: Path):
    for split in ("train", "valid"):
        assert sum(1 for _ in read("personachat", split, data_root)) == 1_000
    revised = PersonaChat(wording="revised").read("valid", data_root)
    assert sum(1 for _ in revised) == 1_000
    assert sum(1 for _ in read("personachat-profiles", "train", data_root)) == 8_938
