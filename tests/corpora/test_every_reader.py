"""What holds for each corpus in the registry, tried on a small made-up one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

import made_up_corpora
from allears.conversation import Conversation
from allears.corpora import Corpus, CorpusError, corpus, corpus_names, read
from allears.corpora.files import NotHereError
from made_up_corpora import MadeUp

every_corpus = pytest.mark.parametrize("made_up", made_up_corpora.ALL.values(), ids=made_up_corpora.ALL)


def test_there_is_a_made_up_corpus_for_every_reader():
    built_in = list(made_up_corpora.BUILT_IN)
    assert built_in == corpus_names()[: len(built_in)]  # then come those of other packages


@every_corpus
def test_a_reader_yields_its_conversations_with_split_and_source(made_up: MadeUp, tmp_path: Path):
    reader = made_up.reader()
    found = list(reader.read(made_up.split, made_up.write(tmp_path)))
    assert len(found) == 3
    assert len({conversation.id for conversation in found}) == 3
    assert isinstance(reader, Corpus)
    if made_up.name in made_up_corpora.BUILT_IN:
        assert {conversation.source for conversation in found} == {made_up.name}
        assert {conversation.split for conversation in found} == {made_up.split}
        assert made_up.split in reader.info.splits


@every_corpus
def test_what_is_read_survives_a_round_trip_through_json(made_up: MadeUp, tmp_path: Path):
    for conversation in made_up.reader().read(made_up.split, made_up.write(tmp_path)):
        assert Conversation.from_json(conversation.to_json()) == conversation


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@every_corpus
def test_compressed_files_are_opened_transparently(made_up: MadeUp, ending: str, tmp_path: Path):
    plain = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    pack = gzip.compress if ending == ".gz" else zstandard.compress
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.with_name(path.name + ending).write_bytes(pack(path.read_bytes()))
        path.unlink()
    name = made_up.name if made_up.name in made_up_corpora.BUILT_IN else made_up.name + ending
    assert list(read(name, made_up.split, tmp_path)) == plain


@every_corpus
def test_a_bad_row_is_one_sentence_with_file_and_line(made_up: MadeUp, tmp_path: Path):
    made_up.write_broken(tmp_path)
    with pytest.raises(CorpusError) as raised:
        list(made_up.reader().read(made_up.split, tmp_path))
    message = str(raised.value)
    assert Path(made_up.main).name in message
    assert f"line {raised.value.line}:" in message
    assert raised.value.line is not None
    assert "\n" not in message


@every_corpus
def test_reading_goes_on_after_a_bad_row_when_asked_to(made_up: MadeUp, tmp_path: Path):
    good = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    made_up.write_broken(tmp_path)
    bad: list[CorpusError] = []
    rest = list(made_up.reader().read(made_up.split, tmp_path, on_bad=bad.append))
    assert bad
    assert rest != good
    assert good[0] in rest
    assert good[2] in rest


@every_corpus
def test_crlf_line_ends_change_nothing(made_up: MadeUp, tmp_path: Path):
    plain = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    for name, text in made_up.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\r\n")
    windows = list(made_up.reader().read(made_up.split, tmp_path))
    if made_up.name == "epitome":  # its posts span lines; there the line end is text
        assert [conversation.labels for conversation in windows] == [item.labels for item in plain]
    else:
        assert windows == plain


@every_corpus
def test_blank_lines_at_the_end_change_nothing(made_up: MadeUp, tmp_path: Path):
    plain = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    for name, text in made_up.files.items():
        (tmp_path / name).write_text(text + "\n\n", encoding="utf-8")
    assert list(made_up.reader().read(made_up.split, tmp_path)) == plain


@every_corpus
def test_an_empty_file_is_said_to_be_empty(made_up: MadeUp, tmp_path: Path):
    made_up.write(tmp_path)
    (tmp_path / made_up.main).write_bytes(b"")
    with pytest.raises(CorpusError, match=f"{Path(made_up.main).name}: the file is empty"):
        list(made_up.reader().read(made_up.split, tmp_path))


@every_corpus
def test_a_pickle_in_the_place_of_a_file_is_refused(made_up: MadeUp, tmp_path: Path):
    made_up.write(tmp_path)
    (tmp_path / made_up.main).write_bytes(b"\x80\x04\x95\x0f\x00\x00\x00")
    with pytest.raises(CorpusError, match="this is a pickle"):
        list(made_up.reader().read(made_up.split, tmp_path))


@every_corpus
def test_bytes_that_are_not_utf_8_are_a_bad_row(made_up: MadeUp, tmp_path: Path):
    good = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    path = tmp_path / made_up.main
    position = path.read_bytes().index(made_up.good.encode())
    path.write_bytes(path.read_bytes()[:position] + b"\xff" + path.read_bytes()[position:])
    bad: list[CorpusError] = []
    rest = list(made_up.reader().read(made_up.split, tmp_path, on_bad=bad.append))
    assert bad
    assert bad[0].line is not None
    assert good[0] in rest
    assert good[2] in rest


@every_corpus
def test_a_corpus_that_is_not_there_is_said_to_be_absent_before_reading(made_up: MadeUp, tmp_path: Path):
    if made_up.name in (
        "talks",
        "marked-replies",
        "crisis-talks",
    ):  # they ship, so only a split can be absent
        with pytest.raises(
            NotHereError, match=f"{made_up.name} has no split 'dev'; it has train, valid, test"
        ):
            made_up.reader().read("dev", tmp_path)
        return
    with pytest.raises(NotHereError):
        made_up.reader().read(made_up.split, tmp_path)
    with pytest.raises(NotHereError, match="no such file"):
        made_up.reader().read(made_up.split, tmp_path / "nowhere")


@pytest.mark.parametrize("made_up", made_up_corpora.BUILT_IN.values(), ids=made_up_corpora.BUILT_IN)
def test_the_root_may_be_the_folder_of_the_corpus_itself(made_up: MadeUp, tmp_path: Path):
    everything = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    own_folder = tmp_path / Path(made_up.main).parts[0]
    if own_folder.is_dir():
        assert list(made_up.reader().read(made_up.split, own_folder)) == everything


@pytest.mark.parametrize("made_up", made_up_corpora.ALL.values(), ids=made_up_corpora.ALL)
def test_the_root_may_be_the_very_file(made_up: MadeUp, tmp_path: Path):
    made_up.write(tmp_path)
    found = list(made_up.reader().read(made_up.split, tmp_path / made_up.main))
    assert found[0] == next(made_up.reader().read(made_up.split, tmp_path))


@pytest.mark.parametrize("name", made_up_corpora.BUILT_IN)
def test_the_facts_about_a_corpus_are_complete(name: str):
    info = corpus(name).info
    assert info.name == name
    assert info.page.startswith(("http", "docs/"))
    assert info.licence
    assert info.about.endswith(".")
    assert set(info.counts) <= set(info.splits)
    assert all(not Path(file.file).is_absolute() for file in info.downloads)
