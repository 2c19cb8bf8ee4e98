from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import CorpusError, pec, read
from allears.corpora.files import NotHereError
from made_up_corpora import PEC, STARS, write_bytes


def test_the_last_author_is_the_supporter_and_all_others_seekers(tmp_path: Path):
    _, second, _ = read("pec", "train", PEC.write(tmp_path))
    assert second.turns == (
        Turn(Role.SEEKER, "i passed !", author="ann"),
        Turn(Role.SUPPORTER, "which test ?", author="cem"),
        Turn(Role.SEEKER, "swimming .", author="ann"),
        Turn(Role.SUPPORTER, "so good !", author="cem"),
    )


def test_personas_are_found_by_author_and_some_have_none(tmp_path: Path):
    first, second, third = read("pec", "train", PEC.write(tmp_path))
    assert first.personas["bob"].texts == ("i teach .", "i have 2 cats .")
    assert set(second.personas) == {"ann"}
    assert third.personas["eve"].sentences[0].source == "persona.txt"


def test_domains_are_read_in_the_order_of_their_names_or_as_chosen(tmp_path: Path):
    PEC.write(tmp_path)

    def domains(reader: pec.PEC) -> list[str]:
        return [talk.labels["domain"] for talk in reader.read("train", tmp_path)]

    assert domains(pec.PEC()) == ["happy", "happy", "offmychest"]
    assert domains(pec.PEC(domains=["offmychest"])) == ["offmychest"]
    with pytest.raises(NotHereError, match=r"expected pec/jokes/train\.txt with persona\.txt beside it"):
        domains(pec.PEC(domains=["jokes"]))


@pytest.mark.parametrize("place", ["pec_format", "pec", "."])
def test_domains_may_have_any_name_and_stand_in_any_of_three_places(place: str, tmp_path: Path):
    for name in ("train.txt", "persona.txt"):
        write_bytes(tmp_path / place / "CasualTalk" / name, PEC.files[f"pec/happy/{name}"].encode())
    write_bytes(tmp_path / place / "notes" / "train.txt", b"not a domain: no personas beside it")
    found = list(read("pec", "train", tmp_path))
    assert {talk.labels["domain"] for talk in found} == {"CasualTalk"}


def test_one_domain_folder_may_be_the_root(tmp_path: Path):
    PEC.write(tmp_path)
    assert len(list(read("pec", "train", tmp_path / "pec/happy"))) == 2


def test_archives_are_read(tmp_path: Path):
    plain = list(read("pec", "train", PEC.write(tmp_path / "plain")))
    (tmp_path / "zip").mkdir()
    with zipfile.ZipFile(tmp_path / "zip/pec.zip", "w") as archive:
        for name, text in PEC.files.items():
            archive.writestr(name, text)
    (tmp_path / "tar").mkdir()
    with tarfile.open(tmp_path / "tar/pec.tar.gz", "w:gz") as tar:
        for name, text in PEC.files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    assert list(read("pec", "train", tmp_path / "zip")) == plain
    assert list(read("pec", "train", tmp_path / "tar/pec.tar.gz")) == plain


def test_the_last_row_of_asterisks_may_be_missing(tmp_path: Path):
    write_bytes(tmp_path / "d/train.txt", b"a ---+--- hello ---+--- there\nb ---+--- hi\n")
    write_bytes(tmp_path / "d/persona.txt", b"b\ni am b .\n")
    (talk,) = read("pec", "train", tmp_path)
    assert talk.turns[0].text == "hello ---+--- there"
    assert talk.personas["b"].texts == ("i am b .",)


@pytest.mark.parametrize("line", ["ann: hello", "ann ---+--- ", " ---+--- hello"])
def test_a_line_of_another_form_drops_its_conversation(line: str, tmp_path: Path):
    text = f"ann ---+--- i passed !\n{line}\n{STARS}\n\na ---+--- b\nc ---+--- d\n{STARS}\n"
    write_bytes(tmp_path / "d/train.txt", text.encode())
    write_bytes(tmp_path / "d/persona.txt", b"a\ni am a .\n")
    bad: list[CorpusError] = []
    (talk,) = read("pec", "train", tmp_path, on_bad=bad.append)
    assert talk.id == "pec-d-train-5"
    assert [str(error).split("train.txt, ")[1] for error in bad] == ["line 2: expected 'author ---+--- text'"]


@pytest.mark.corpus
def test_the_twelve_conversations_here_are_read(data_root: Path):
    found = [talk for split in ("train", "valid", "test") for talk in read("pec", split, data_root)]
    assert len(found) == 12
    assert {talk.labels["domain"] for talk in found} == {"happy", "offmychest"}
