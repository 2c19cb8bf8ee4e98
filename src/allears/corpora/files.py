"""Opening what authors publish: plain, gzip, Zstandard, and members of zip and tar, all the same way.

A `Source` is a file, or a member of an archive. Everything that can go wrong while opening or reading
becomes a `CorpusError` that names the file, the line and what was expected.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO, Any

import zstandard

from allears.errors import AllearsError

COMPRESSED = (".gz", ".zst")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
INSIDE = "!/"  # between a zip within a zip and the file in it
LONGEST_MESSAGE = 600
PICKLES = (".pkl", ".pickle", ".pt", ".bin", ".joblib")
# Pushshift dumps are written with --long=31; the window is memory we must be willing to give.
ZSTD_WINDOW = 2**31
ZSTD_PIECE = 1 << 16  # packed bytes at a time; their plain text may be many times as long


@dataclass(frozen=True, slots=True)
class Source:
    """A readable file: `path`, and the `member` inside it when `path` is an archive."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}:{self.member}"


class CorpusError(AllearsError):
    """A corpus file is missing or broken: which file, which line, what was expected."""

    def __init__(self, problem: str, *, source: Source | Path | None = None, line: int | None = None):
        self.problem, self.source, self.line = problem, source, line
        where = "" if source is None else f"{source}" + ("" if line is None else f", line {line}") + ": "
        super().__init__(_one_sentence(where + problem))


def _one_sentence(text: str) -> str:
    """A problem may quote a broken file: keep it to one line of bearable length that can be printed."""
    line = " ".join(text.encode("utf-8", "backslashreplace").decode("utf-8").split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"


class NotHereError(CorpusError):
    """The files of a corpus or split are not under the root: nothing is broken, something is absent."""


OnBad = Callable[[CorpusError], None]
"""Called with each bad row; a reader goes on if it returns. `raise_bad` is the strict default."""


def raise_bad(error: CorpusError) -> None:
    raise error


_BROKEN_ARCHIVE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zstandard.ZstdError,
    EOFError,
    OSError,
    RuntimeError,  # zipfile: encrypted member
    NotImplementedError,  # zipfile: unknown compression method
    ValueError,  # zipfile and tarfile on mangled headers
    OverflowError,  # the same, where a header claims a size beyond any file
    struct.error,
)


def locate(root: Path, names: Sequence[str]) -> Source:
    """The first of `names` that exists under `root`.

    A name is a path relative to `root`; `archive.tar.gz:pattern` looks for a member of an archive.
    Each is also tried with .gz and .zst added, and by its last part alone directly under `root`, so that
    a root may be the folder of all corpora, one corpus's folder, or the very file.
    """
    root = Path(root)
    if not root.exists():
        raise NotHereError("no such file or folder; set ALLEARS_DATA or pass --root", source=root)
    if root.is_file():
        refuse_pickle(Source(root))
    for name in names:
        found = _locate_one(root, name)
        if found is not None:
            return found
    wanted = ", ".join(names)
    raise NotHereError(f"none of the expected files is here: {wanted}", source=root)


def _locate_one(root: Path, name: str) -> Source | None:
    archive, _, member = name.partition(":")
    if root.is_file():
        places = [root] if _same_file_name(root.name, Path(archive).name) else []
    else:
        places = [root / archive, root / Path(archive).name]
    for place in places:
        for path in (place, *(place.with_name(place.name + ending) for ending in COMPRESSED)):
            if path.is_file():
                if not member:
                    return Source(path)
                inside = _member_like(path, member)
                if inside is not None:
                    return Source(path, inside)
    return None


def _same_file_name(actual: str, wanted: str) -> bool:
    return actual in {wanted, *(wanted + ending for ending in COMPRESSED)}


def _member_like(path: Path, pattern: str) -> str | None:
    for member in members(path):
        if fnmatch(member, pattern):
            return member
    return None


def members(path: Path) -> list[str]:
    """The names of the files in a zip or tar archive. Files of a zip inside a zip (that is how DailyDialog
    is published) are named `inner.zip!/file`; what macOS adds for itself is left out."""
    try:
        if path.name.endswith(".zip"):
            names = _zip_members(path)
        else:
            with tarfile.open(path) as tar:
                names = [info.name for info in tar if info.isfile()]
    except _BROKEN_ARCHIVE as error:
        raise CorpusError(f"the archive is broken or cut short ({error})", source=path) from error
    return [name for name in names if not PurePosixPath(name).name.startswith("._")]


def _zip_members(file: Path | IO[bytes], *, look_inside: bool = True) -> list[str]:
    names: list[str] = []
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if look_inside and name.endswith(".zip") and "__MACOSX" not in name:
                with archive.open(name) as inner:
                    names += [f"{name}{INSIDE}{member}" for member in _zip_members(inner, look_inside=False)]
            elif not name.endswith("/"):
                names.append(name)
    return names


@contextmanager
def _open_zip_member(file: Path | IO[bytes], member: str) -> Iterator[IO[bytes]]:
    outer, _, inner = member.partition(INSIDE)
    with zipfile.ZipFile(file) as archive, archive.open(outer) as opened:
        if inner:
            with _open_zip_member(opened, inner) as nested:
                yield nested
        else:
            yield opened


def refuse_pickle(source: Source) -> None:
    """Opening a pickle can run any code, so a file with such a name is not opened at all."""
    name = (source.member or source.path.name).lower()
    if any(name.removesuffix(ending).endswith(PICKLES) for ending in ("", *COMPRESSED)):
        raise CorpusError(
            "this looks like a pickle, which can run code when opened; convert it to JSON or text first",
            source=source,
        )


@contextmanager
def open_bytes(source: Source) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a source. Errors while reading become `CorpusError` too."""
    refuse_pickle(source)
    try:
        with _open_raw(source) as raw:
            start = raw.peek(2)[:2]
            if start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
                raise CorpusError(
                    "this is a pickle, which can run code when opened; convert it to JSON or text first",
                    source=source,
                )
            if not start:
                raise CorpusError("the file is empty", source=source)
            yield raw
    except CorpusError:
        raise
    except (FileNotFoundError, KeyError) as error:  # KeyError: not in the archive
        raise CorpusError("no such file, but it is needed", source=source) from error
    except _BROKEN_ARCHIVE as error:
        raise CorpusError(
            f"broken or cut short ({error or 'unexpected end of file'})", source=source
        ) from error


@contextmanager
def _open_raw(source: Source) -> Iterator[io.BufferedReader]:
    if source.member is None:
        with open(source.path, "rb") as plain_file, _decompressed(plain_file, source.path.name) as plain:
            yield plain
    elif source.path.name.endswith(".zip"):
        with (
            _open_zip_member(source.path, source.member) as zip_file,
            _decompressed(zip_file, source.member) as plain,
        ):
            yield plain
    else:
        with tarfile.open(source.path) as tar:
            tar_file = tar.extractfile(source.member)
            if tar_file is None:
                raise CorpusError("is not a file in this archive", source=source)
            with tar_file, _decompressed(tar_file, source.member) as plain:
                yield plain


@contextmanager
def _decompressed(file: IO[bytes], name: str) -> Iterator[io.BufferedReader]:
    if name.endswith(".gz"):
        with gzip.open(file, "rb") as plain:
            yield io.BufferedReader(plain, 1 << 20)
    elif name.endswith(".zst"):
        yield io.BufferedReader(_ZstandardFile(file), 1 << 20)
    else:
        yield io.BufferedReader(file, 1 << 20)  # type: ignore[arg-type]


class _ZstandardFile(io.RawIOBase):
    """Frames of Zstandard, one after another. The library's own stream reader takes a file that was cut
    short for a complete one; this says so."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self._zstandard = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._frame = self._zstandard.decompressobj()
        self._plain = memoryview(b"")
        self._in_frame = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain:
            packed = self._frame.unused_data or self._file.read(ZSTD_PIECE)
            if self._frame.eof:
                self._frame = self._zstandard.decompressobj()
                self._in_frame = False
            if not packed:
                if self._in_frame:
                    raise EOFError("the last frame does not end")
                return 0
            self._in_frame = True
            self._plain = memoryview(self._frame.decompress(packed))
        size = min(len(buffer), len(self._plain))
        buffer[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size


def whole_files(place: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Every small file under a folder or in a tar archive whose path fits: (path, all its bytes), one at a
    time. For corpora that are trees of files: opening a compressed tar anew for each would take hours."""
    source = Source(place)
    try:
        if place.is_dir():
            for path in sorted(path for path in place.rglob("*") if path.is_file()):
                source = Source(path)
                if fnmatch(path.as_posix(), pattern):
                    yield path.as_posix(), path.read_bytes()
        else:
            with tarfile.open(place) as tar:
                for info in tar:
                    source = Source(place, info.name)
                    if info.isfile() and fnmatch(info.name, pattern):
                        yield info.name, tar.extractfile(info).read()  # type: ignore[union-attr]
    except _BROKEN_ARCHIVE as error:
        raise CorpusError(f"broken or cut short ({error})", source=source) from error


def text_pieces(source: Source, size: int = 1 << 16) -> Iterator[str]:
    """The text in pieces of at most `size` characters, for files that are not made of lines."""
    with open_bytes(source) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="\n")
        while piece := text.read(size):
            yield piece


def lines(source: Source) -> Iterator[str]:
    """Lines of text, without copying the file into memory. Invalid UTF-8 becomes lone surrogates:
    cheap to carry, and `valid_utf8` finds them, so a reader can report (or skip) just that line."""
    with open_bytes(source) as raw:
        yield from io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="\n")


def valid_utf8(text: str) -> bool:
    """False if `text` holds bytes that were not UTF-8 when `lines` read them."""
    if text.isascii():  # a flag on the string: nearly free, true for most lines
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
