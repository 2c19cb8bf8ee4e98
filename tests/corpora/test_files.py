from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from allears.corpora import CorpusError
from allears.corpora.files import (
    NotHereError,
    Source,
    lines,
    locate,
    members,
    open_bytes,
    text_pieces,
    valid_utf8,
    whole_files,
)

# Not too regular, so that half of the packed bytes is far from the whole text.
TEXT = "".join(f"line {number} {number**5 % 7919}\n" for number in range(3_000)).encode()


def write_gz(path: Path) -> Source:
    path.write_bytes(gzip.compress(TEXT))
    return Source(path)


def write_zst(path: Path) -> Source:
    path.write_bytes(zstandard.compress(TEXT))
    return Source(path)


def write_zip(path: Path) -> Source:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/talk.txt", TEXT)
    return Source(path, "inner/talk.txt")


def write_tar(path: Path) -> Source:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as tar:
        info = tarfile.TarInfo("inner/talk.txt")
        info.size = len(TEXT)
        tar.addfile(info, io.BytesIO(TEXT))
    return Source(path, "inner/talk.txt")


PACKED: dict[str, Callable[[Path], Source]] = {
    "talk.txt.gz": write_gz,
    "talk.txt.zst": write_zst,
    "talk.zip": write_zip,
    "talk.tar": write_tar,
    "talk.tar.gz": write_tar,
    "talk.tgz": write_tar,
}
every_packing = pytest.mark.parametrize("name", PACKED)


@every_packing
def test_every_packing_gives_the_same_lines(name: str, tmp_path: Path):
    source = PACKED[name](tmp_path / name)
    assert "".join(lines(source)).encode() == TEXT
    assert "".join(text_pieces(source, 100)).encode() == TEXT


@every_packing
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_file_that_was_cut_short_is_said_to_be(name: str, share: float, tmp_path: Path):
    source = PACKED[name](tmp_path / name)
    data = source.path.read_bytes()
    end = len(data) if not name.endswith(".tar") else 512 + len(TEXT)  # after it come only zeros
    source.path.write_bytes(data[: int(end * share)])
    with pytest.raises(CorpusError, match="cut short") as raised:
        list(lines(source))
    assert name in str(raised.value)


def test_a_zstandard_file_without_its_very_last_byte_is_cut_short(tmp_path: Path):
    source = write_zst(tmp_path / "talk.txt.zst")
    source.path.write_bytes(source.path.read_bytes()[:-1])
    with pytest.raises(CorpusError, match="cut short"):
        list(lines(source))


def test_zstandard_frames_one_after_another_are_one_text(tmp_path: Path):
    frames = zstandard.compress(b"one\n") + zstandard.compress(b"") + zstandard.compress(TEXT)
    (tmp_path / "a.zst").write_bytes(frames)
    assert "".join(lines(Source(tmp_path / "a.zst"))).encode() == b"one\n" + TEXT


@pytest.mark.parametrize("name", ["talk.zip", "talk.tar", "talk.tar.gz"])
def test_listing_an_archive_that_is_none_is_one_sentence(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(b"this is no archive at all")
    with pytest.raises(CorpusError, match=f"{name}: the archive is broken or cut short"):
        members(tmp_path / name)


def test_what_macos_adds_to_archives_is_not_listed(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/talk.txt", "hello")
        archive.writestr("__MACOSX/folder/._talk.txt", "?")
    assert members(tmp_path / "a.zip") == ["folder/talk.txt"]


def test_a_member_that_is_not_in_the_archive_is_named(tmp_path: Path):
    for source in (write_zip(tmp_path / "talk.zip"), write_tar(tmp_path / "talk.tar")):
        with pytest.raises(CorpusError, match=r"other\.txt: no such file, but it is needed"):
            list(lines(Source(source.path, "other.txt")))


@pytest.mark.parametrize("name", ["talk.pkl", "talk.pickle.gz", "model.pt", "talk.BIN"])
def test_a_file_named_like_a_pickle_is_refused_unopened(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(b"whatever")
    with pytest.raises(CorpusError, match=f"{name}: this looks like a pickle"):
        list(lines(Source(tmp_path / name)))
    with pytest.raises(CorpusError, match=f"{name}: this looks like a pickle"):
        locate(tmp_path / name, ["train.csv"])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_under_another_name_is_recognised_by_its_first_bytes(protocol: int, tmp_path: Path):
    (tmp_path / "train.csv.gz").write_bytes(gzip.compress(pickle.dumps({"a": 1}, protocol)))
    with pytest.raises(CorpusError, match=r"train\.csv\.gz: this is a pickle"):
        list(lines(Source(tmp_path / "train.csv.gz")))


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0)], ids=["plain", "gzip"])
def test_an_empty_file_is_said_to_be_empty(data: bytes, tmp_path: Path):
    path = tmp_path / ("empty.txt.gz" if data else "empty.txt")
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="the file is empty"), open_bytes(Source(path)):
        pass


def test_invalid_utf_8_marks_its_own_line_only(tmp_path: Path):
    (tmp_path / "a.txt").write_bytes("ok\nbr\xff".encode("latin-1") + "ken\nökay\n".encode())
    assert [valid_utf8(line) for line in lines(Source(tmp_path / "a.txt"))] == [True, False, True]


def test_no_such_folder_says_what_to_set(tmp_path: Path):
    with pytest.raises(
        NotHereError, match="nowhere: no such file or folder; set ALLEARS_DATA or pass --root"
    ):
        locate(tmp_path / "nowhere", ["train.csv"])


def test_what_was_looked_for_is_listed_when_nothing_is_found(tmp_path: Path):
    with pytest.raises(
        NotHereError, match=r"none of the expected files is here: ed/a\.csv, ed\.zip:\*a\.csv"
    ):
        locate(tmp_path, ["ed/a.csv", "ed.zip:*a.csv"])


@pytest.mark.parametrize("place", ["corpus/talk.txt", "talk.txt", "corpus/talk.txt.gz", "talk.txt.zst"])
def test_a_file_is_found_in_its_folder_or_under_the_root_packed_or_not(place: str, tmp_path: Path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / place).write_bytes(b"x")
    assert locate(tmp_path, ["corpus/talk.txt"]) == Source(tmp_path / place)
    assert locate(tmp_path / place, ["corpus/talk.txt"]) == Source(tmp_path / place)


def test_the_first_name_that_exists_wins(tmp_path: Path):
    for name in ("b.txt", "c.txt"):
        (tmp_path / name).write_bytes(b"x")
    assert locate(tmp_path, ["a.txt", "b.txt", "c.txt"]).path.name == "b.txt"


def test_every_file_of_a_tree_comes_whole_from_a_folder_or_a_tarball(tmp_path: Path):
    files = {"tree/a/1": b"one", "tree/b/2": b"two", "tree/b/3": b"three"}
    with tarfile.open(tmp_path / "tree.tar.gz", "w:gz") as tar:
        for name, data in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
            tar.add(tmp_path / name, name)
    assert dict(whole_files(tmp_path / "tree.tar.gz", "tree/*/*")) == files
    assert list(dict(whole_files(tmp_path / "tree", "*/b/*")).values()) == [b"two", b"three"]


def test_a_message_is_one_printable_line_whatever_it_quotes(tmp_path: Path):
    message = str(CorpusError("got \udcff\nand " + "a" * 5_000, source=tmp_path, line=3))
    assert message.encode("utf-8").startswith(f"{tmp_path}, line 3: got \\udcff and aaa".encode())
    assert len(message) == 600
