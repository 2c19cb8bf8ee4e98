"""Whatever a file holds, a reader gives conversations or a CorpusError, and nothing else."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import made_up_corpora
from allears.conversation import Conversation
from allears.corpora import CorpusError
from made_up_corpora import ED, MadeUp

every_corpus = pytest.mark.parametrize("made_up", made_up_corpora.ALL.values(), ids=made_up_corpora.ALL)
quickly = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

# Pieces that mean something to one format or another, or that break an encoding. (JSON nested beyond Python's
# recursion limit is tried in tests/corpora: here Hypothesis's own hook on garbage collection would trip.)
PIECES = [
    b"\n", b"\r", b"\r\n", b"\t", b",", b"|", b" ", b'"', b"'", b"\\", b"[", b"]", b"{", b"}", b":", b"\0",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", "é🌧\u2028\x85".encode(), b"\\ud83d", b"\\u0000",
    b"*" * 20, b" ---+--- ", b"__eou__", b"__SILENCE__", b"_comma_", b"your persona: ", b"1 ", b"-1",
    b"1e999", b"9" * 5_000, b"NaN", b"null", b"true", b"{}", b"[]", b'""', b"[" * 50, b"\x80\x04",
]  # fmt: skip

edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),  # where, as a share of the file
        st.integers(0, 40),  # how many bytes go
        st.sampled_from(PIECES) | st.binary(max_size=12),  # what comes instead
    ),
    min_size=1,
    max_size=4,
)
rubbish = st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join)


def edited(data: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for share, length, piece in changes:
        start = int(share * len(data))
        data = data[:start] + piece + data[start + length :]
    return data


def read_both_ways(made_up: MadeUp, root: Path) -> None:
    """Going on after bad rows, and stopping at the first. The two must agree."""
    bad: list[CorpusError] = []
    found: list[Conversation] = []
    whole_file: CorpusError | None = None
    try:
        for conversation in made_up.reader().read(made_up.split, root, on_bad=bad.append):
            found.append(conversation)
    except CorpusError as error:
        whole_file = error
    for error in [*bad, *([whole_file] if whole_file else [])]:
        assert isinstance(error, CorpusError)
        str(error).encode("utf-8")
        assert "\n" not in str(error)
    for conversation in found:
        line = conversation.to_json()
        line.encode("utf-8")
        assert Conversation.from_json(line) == conversation
    first = bad[0] if bad else whole_file
    if first is None:
        assert list(made_up.reader().read(made_up.split, root)) == found
    else:
        with pytest.raises(CorpusError) as raised:
            list(made_up.reader().read(made_up.split, root))
        assert str(raised.value) == str(first)


@every_corpus
def test_rubbish_in_place_of_any_file_is_a_corpus_error(made_up: MadeUp, tmp_path_factory):
    root = made_up.write(tmp_path_factory.mktemp("rubbish"))

    @quickly
    @given(name=st.sampled_from(sorted(made_up.files)), data=rubbish)
    def check(name: str, data: bytes) -> None:
        (root / name).write_bytes(data)
        try:
            read_both_ways(made_up, root)
        finally:
            (root / name).write_bytes(made_up.files[name].encode())

    check()


@every_corpus
def test_edited_rows_are_read_or_reported(made_up: MadeUp, tmp_path_factory):
    root = made_up.write(tmp_path_factory.mktemp("edited"))

    @quickly
    @given(name=st.sampled_from(sorted(made_up.files)), changes=edits)
    def check(name: str, changes: list[tuple[float, int, bytes]]) -> None:
        good = made_up.files[name].encode()
        (root / name).write_bytes(edited(good, changes))
        try:
            read_both_ways(made_up, root)
        finally:
            (root / name).write_bytes(good)

    check()


def packed_tar(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as tar:
        for name, text in ED.files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return file.getvalue()


def packed_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in ED.files.items():
            archive.writestr(name, text)
    return file.getvalue()


PLAIN = ED.files[ED.main].encode()
PACKED = {
    "train.csv.gz": gzip.compress(PLAIN),
    "train.csv.zst": zstandard.compress(PLAIN),
    "empatheticdialogues.zip": packed_zip(),
    "empatheticdialogues.tar": packed_tar("w"),
    "empatheticdialogues.tar.gz": packed_tar("w:gz"),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_damaged_archive_is_a_corpus_error(name: str, tmp_path_factory):
    root = tmp_path_factory.mktemp("archive")

    @quickly
    @given(changes=edits)
    def check(changes: list[tuple[float, int, bytes]]) -> None:
        (root / name).write_bytes(edited(PACKED[name], changes))
        read_both_ways(ED, root)

    check()


@every_corpus
def test_a_bad_row_among_many_good_ones_costs_only_its_own_conversation(made_up: MadeUp, tmp_path: Path):
    good = list(made_up.reader().read(made_up.split, made_up.write(tmp_path)))
    bad: list[CorpusError] = []
    rest = list(made_up.reader().read(made_up.split, made_up.write_broken(tmp_path), on_bad=bad.append))
    assert bad
    assert [conversation for conversation in good if conversation in rest] == [good[0], good[2]]
