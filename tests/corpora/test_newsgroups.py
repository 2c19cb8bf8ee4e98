from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from allears.corpora import CorpusError, read
from made_up_corpora import NEWSGROUPS, write_bytes

POST = (
    "From: kim@example.org\nSubject: Re: a hum\n\n"
    "In article <1@x> lee@example.org writes:\n> my car hums\n| mine too\n"
    "Mine hums caf\u00e9 songs.\n\nDoes yours?\n"
).encode("latin-1")
TREE = {
    "20news-bydate-train/rec.autos/101": POST,
    "20news-bydate-train/rec.autos/102": b"From: a\n\n> only quotes\n",
    "20news-bydate-train/sci.space/7": b"Subject: moon\r\n\r\nIt is up.\r\n",
    "20news-bydate-test/sci.space/8": b"Subject: sun\n\nIt is bright.\n",
}


def write_tree(root: Path) -> Path:
    for name, data in TREE.items():
        write_bytes(root / name, data)
    return root


def test_a_post_of_the_jsonl_is_one_turn_with_its_topic(tmp_path: Path):
    first = next(read("20news", "test", NEWSGROUPS.write(tmp_path)))
    assert [turn.text for turn in first.turns] == ["My car hums."]
    assert first.labels == {"topic": "rec.autos"}


@pytest.mark.parametrize("place", [".", "20news", "20news-bydate"])
def test_the_folder_tree_loses_headers_quotes_and_posts_with_nothing_else(place: str, tmp_path: Path):
    write_tree(tmp_path / place)
    first, second = read("20news", "train", tmp_path)
    assert first.turns[0].text == "Mine hums café songs.\n\nDoes yours?"
    assert (first.id, first.labels["topic"]) == ("rec.autos/101", "rec.autos")
    assert second.turns[0].text == "It is up."
    assert [talk.id for talk in read("20news", "test", tmp_path)] == ["sci.space/8"]


def test_one_folder_of_the_tree_may_be_the_root(tmp_path: Path):
    write_tree(tmp_path)
    assert len(list(read("20news", "train", tmp_path / "20news-bydate-train"))) == 2


def test_the_official_tarball_is_read_in_one_go(tmp_path: Path):
    with tarfile.open(tmp_path / "20news-bydate.tar.gz", "w:gz") as tar:
        for name, data in TREE.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    assert [talk.id for talk in read("20news", "train", tmp_path)] == ["rec.autos/101", "sci.space/7"]
    data = (tmp_path / "20news-bydate.tar.gz").read_bytes()
    (tmp_path / "20news-bydate.tar.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(CorpusError, match="broken or cut short"):
        list(read("20news", "train", tmp_path))


def test_a_record_without_its_label_is_reported(tmp_path: Path):
    write_bytes(tmp_path / "20news/train.jsonl", b'{"text": "no topic"}\n')
    with pytest.raises(CorpusError, match="line 1: expected the key 'label', got 'text'"):
        list(read("20news", "train", tmp_path))


@pytest.mark.corpus
def test_the_counts_without_empty_posts_hold(data_root: Path):
    assert sum(1 for _ in read("20news", "train", data_root)) == 11_290
    assert sum(1 for _ in read("20news", "test", data_root)) == 7_507
