"""Fetching a corpus's official files: pooch checks and places them, and we continue what was cut off.

pooch starts every download anew. `ResumingDownloader` is a pooch downloader that keeps a `.part` file beside
the destination and asks the server only for the rest (HTTP Range). `If-Range` makes sure that the rest
belongs to the same file; the SHA-256 checksum at the end is the last word.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from allears.corpora.corpus import CorpusInfo, Download
from allears.errors import AllearsError

CHUNK = 1 << 14  # what may be lost when a connection drops
TIMEOUT = (10, 60)  # seconds to connect, seconds without a byte
ATTEMPTS = 4  # a connection that drops is taken up again this often within one command
PAUSE = 1.0  # seconds before the first of those, doubled each time

OnProgress = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes there will be (None if the server does not say)."""


def _silent(done: int, total: int | None) -> None:
    """Show nothing."""


def human_size(count: int | None) -> str:
    if count is None:
        return "size not stated"
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def fetch(info: CorpusInfo, file: Download, root: Path, *, on_progress: OnProgress = _silent) -> bool:
    """Bring one file to its place under `root`. False if it was there already, checked.

    Every failure is one sentence that names the page to get the file from by hand.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    place = root / file.file
    by_hand = f"get {Path(file.file).name} by hand from {info.page} and put it at {place}"
    if place.exists():
        _check_existing(file, place)
        return False
    known = None if file.sha256 is None else f"sha256:{file.sha256}"
    downloader = ResumingDownloader(_part_of(place), on_progress)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(file.url, known_hash=known, fname=place.name, path=place.parent, downloader=downloader)
    except requests.HTTPError as error:
        status = "an error" if error.response is None else error.response.status_code
        raise AllearsError(f"the server answered {status} for {file.url}; {by_hand}") from error
    except CutOffError as error:
        raise AllearsError(
            f"the connection to {urlsplit(file.url).hostname} was lost after {human_size(error.done)}; "
            f"run the command again to continue there, or {by_hand}"
        ) from error
    except requests.RequestException as error:
        raise AllearsError(
            f"cannot reach {urlsplit(file.url).hostname} (is the network closed?); {by_hand}"
        ) from error
    except ValueError as error:  # pooch: the checksum; the bad file is removed already
        raise AllearsError(
            f"what {file.url} sent does not have the published checksum and was thrown away; "
            f"try again, or {by_hand}"
        ) from error
    except OSError as error:
        raise AllearsError(f"cannot write {place} ({error.strerror or error})") from error
    return True


def _part_of(place: Path) -> Path:
    return place.with_name(place.name + ".part")


def _check_existing(file: Download, place: Path) -> None:
    """A file in the way is never overwritten: it may be somebody's own version."""
    import pooch

    if not place.is_file():
        raise AllearsError(f"{place}: a folder is in the way; move it, or choose another place with --to")
    if file.sha256 is not None and pooch.file_hash(str(place)) != file.sha256:
        raise AllearsError(
            f"{place} is there already but is not the published file (its checksum differs); "
            "move it away, or choose another place with --to"
        )


class CutOffError(Exception):
    """The connection dropped and stayed down; `done` bytes are kept for next time."""

    def __init__(self, done: int) -> None:
        super().__init__(f"cut off after {done} bytes")
        self.done = done


@dataclass(slots=True)
class ResumingDownloader:
    """A pooch downloader that continues `part` where an earlier attempt stopped."""

    part: Path
    on_progress: OnProgress = _silent
    attempts: int = ATTEMPTS
    pause: float = PAUSE

    def __call__(self, url: str, output_file: Any, _pooch: Any, check_only: bool = False) -> None:
        import requests

        for attempt in range(self.attempts):
            before = self._have()
            try:
                self._continue(url)
                break
            except requests.HTTPError:
                raise  # an answer, not an accident: asking again would get the same
            except requests.RequestException as error:
                stuck = self._have() == before
                if attempt == 0 and stuck:
                    raise  # not a byte came: the network is closed, not shaky
                if attempt + 1 == self.attempts:
                    raise CutOffError(self._have()) from error
                if stuck:
                    time.sleep(self.pause * 2**attempt)
        os.replace(self.part, output_file)
        self._tag_file().unlink(missing_ok=True)

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _tag_file(self) -> Path:
        return self.part.with_name(self.part.name + ".etag")

    def _continue(self, url: str) -> None:
        """One request for what is missing, appended to the part file."""
        import requests

        have = self._have()
        headers = {"Accept-Encoding": "identity"}  # bytes as they lie on the server, or offsets mean nothing
        if have:
            headers["Range"] = f"bytes={have}-"
            if self._tag_file().exists():
                headers["If-Range"] = self._tag_file().read_text(encoding="utf-8")
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if have and answer.status_code == requests.codes.requested_range_not_satisfiable:
                if answer.headers.get("Content-Range") == f"bytes */{have}":
                    return  # the part is already the whole file
                self.part.unlink()  # longer than the file on the server, so not a part of it
                self._continue(url)
                return
            answer.raise_for_status()
            if answer.status_code != requests.codes.partial_content:
                have = 0  # the server sends everything from the start (no ranges, or the file has changed)
            self._remember_tag(answer.headers)
            rest = answer.headers.get("Content-Length")
            total = have + int(rest) if rest is not None and rest.isdigit() else None
            with open(self.part, "ab" if have else "wb") as file:
                self.on_progress(have, total)
                for chunk in answer.iter_content(CHUNK):
                    file.write(chunk)
                    have += len(chunk)
                    self.on_progress(have, total)
        if total is not None and have < total:
            raise requests.ConnectionError("the answer ended early")

    def _remember_tag(self, headers: Any) -> None:
        """A strong ETag or the date names this very file; without one, only the checksum can tell."""
        tag = headers.get("ETag") or headers.get("Last-Modified")
        if tag and not tag.startswith("W/"):
            self._tag_file().write_text(tag, encoding="utf-8")
        else:
            self._tag_file().unlink(missing_ok=True)
