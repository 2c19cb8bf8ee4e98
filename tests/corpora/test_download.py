"""Downloads, against a web server in this process that can do what real servers do to people."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from allears.corpora import CorpusInfo, Download
from allears.corpora.download import CHUNK, fetch, human_size
from allears.errors import AllearsError

CONTENT = bytes(range(256)) * 2_000  # 512 kB: several chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Site:
    """What the server serves, how it misbehaves, and what it was asked."""

    content: bytes = CONTENT
    etag: str | None = '"v1"'
    ranges: bool = True
    drop_after: int | None = None  # bytes of the body after which the connection is closed ...
    drops: int = 0  # ... this many times
    status: int | None = None
    url: str = ""
    asked: list[str | None] = field(default_factory=list)  # the Range of every request


def handler_for(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            site.asked.append(asked)
            if site.status is not None:
                self.send_error(site.status)
                return
            start = 0
            current = self.headers.get("If-Range") in (None, site.etag)
            if asked is not None and site.ranges and current:
                start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])  # type: ignore[index]
                if start >= len(site.content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(site.content)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(site.content) - 1}/{len(site.content)}"
                )
            else:
                self.send_response(200)
            if site.etag is not None:
                self.send_header("ETag", site.etag)
            body = site.content[start:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if site.drop_after is not None and site.drops > 0:
                site.drops -= 1
                body = body[: site.drop_after]
                self.close_connection = True
            self.wfile.write(body)

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(site))
    site.url = f"http://127.0.0.1:{server.server_port}/talks.tar.gz"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allears.corpora.download.time.sleep", lambda _: None)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def info(*files: Download) -> CorpusInfo:
    return CorpusInfo(
        name="made-up",
        title="Made up",
        licence="none",
        page="https://example.org/talks",
        about="",
        downloads=files,
    )


def get(site: Site, root: Path, sha256: str | None = SHA256, **more: object) -> bool:
    file = Download(url=site.url, file="made-up/talks.tar.gz", bytes=len(CONTENT), sha256=sha256)
    return fetch(info(file), file, root, **more)  # type: ignore[arg-type]


def place(root: Path) -> Path:
    return root / "made-up" / "talks.tar.gz"


def leftovers(root: Path) -> list[str]:
    return sorted(path.name for path in place(root).parent.iterdir() if path != place(root))


def test_a_file_is_fetched_checked_and_put_in_its_place(site: Site, tmp_path: Path):
    seen: list[tuple[int, int | None]] = []
    assert get(site, tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    assert place(tmp_path).read_bytes() == CONTENT
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert leftovers(tmp_path) == []


def test_what_is_here_and_right_is_not_fetched_again(site: Site, tmp_path: Path):
    get(site, tmp_path)
    assert not get(site, tmp_path)
    assert len(site.asked) == 1


def test_a_connection_that_drops_is_continued_where_it_stopped(site: Site, tmp_path: Path):
    site.drop_after, site.drops = 12 * CHUNK, 2
    get(site, tmp_path)
    assert place(tmp_path).read_bytes() == CONTENT
    assert site.asked == [None, f"bytes={12 * CHUNK}-", f"bytes={24 * CHUNK}-"]


def test_a_download_given_up_is_continued_by_the_next_command(site: Site, tmp_path: Path):
    site.drop_after, site.drops = 3 * CHUNK, 4
    with pytest.raises(AllearsError, match=r"lost after 196\.6 kB; run the command again to continue there"):
        get(site, tmp_path)
    assert not place(tmp_path).exists()
    get(site, tmp_path)
    assert place(tmp_path).read_bytes() == CONTENT
    assert site.asked[-1] == f"bytes={12 * CHUNK}-"
    assert leftovers(tmp_path) == []


def test_a_server_without_ranges_sends_everything_anew(site: Site, tmp_path: Path):
    site.drop_after, site.drops, site.ranges = 200_000, 1, False
    get(site, tmp_path)
    assert place(tmp_path).read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_not_glued_to_the_old_part(site: Site, tmp_path: Path):
    site.drop_after, site.drops = 3 * CHUNK, 4
    with pytest.raises(AllearsError):
        get(site, tmp_path, sha256=None)
    site.content, site.etag = CONTENT[::-1], '"v2"'
    get(site, tmp_path, sha256=None)  # no checksum: only If-Range protects
    assert place(tmp_path).read_bytes() == CONTENT[::-1]


def test_a_part_that_is_already_whole_only_needs_its_name(site: Site, tmp_path: Path):
    place(tmp_path).parent.mkdir()
    place(tmp_path).with_name("talks.tar.gz.part").write_bytes(CONTENT)
    get(site, tmp_path)
    assert place(tmp_path).read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(site: Site, tmp_path: Path):
    place(tmp_path).parent.mkdir()
    place(tmp_path).with_name("talks.tar.gz.part").write_bytes(CONTENT + b"more")
    get(site, tmp_path)
    assert place(tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing_behind(site: Site, tmp_path: Path):
    with pytest.raises(
        AllearsError, match=r"does not have the published checksum.*https://example\.org/talks"
    ):
        get(site, tmp_path, sha256="0" * 64)
    assert not place(tmp_path).exists()
    assert leftovers(tmp_path) == []


def test_a_file_in_the_way_is_never_overwritten(site: Site, tmp_path: Path):
    place(tmp_path).parent.mkdir()
    place(tmp_path).write_bytes(b"my own version")
    with pytest.raises(AllearsError, match="is there already but is not the published file"):
        get(site, tmp_path)
    assert place(tmp_path).read_bytes() == b"my own version"
    assert site.asked == []


def test_a_folder_in_the_way_is_one_sentence(site: Site, tmp_path: Path):
    place(tmp_path).mkdir(parents=True)
    with pytest.raises(AllearsError, match="a folder is in the way"):
        get(site, tmp_path)


def test_a_closed_network_names_the_page_and_the_place(tmp_path: Path):
    closed = Site(url="http://127.0.0.1:1/talks.tar.gz")  # nobody listens on port 1
    with pytest.raises(AllearsError) as raised:
        get(closed, tmp_path)
    sentence = str(raised.value)
    assert "cannot reach 127.0.0.1 (is the network closed?)" in sentence
    assert "get talks.tar.gz by hand from https://example.org/talks" in sentence
    assert str(place(tmp_path)) in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_answer_that_is_no_file_is_named_and_not_asked_for_again(site: Site, tmp_path: Path, status: int):
    site.status = status
    with pytest.raises(AllearsError, match=f"answered {status} for .*by hand from https://example.org/talks"):
        get(site, tmp_path)
    assert len(site.asked) == 1


def test_a_place_that_cannot_be_written_is_one_sentence(site: Site, tmp_path: Path):
    (tmp_path / "made-up").write_text("a file where a folder is wanted")
    with pytest.raises(AllearsError, match="cannot write"):
        get(site, tmp_path)


def test_sizes_read_like_sizes():
    assert [human_size(n) for n in (None, 12, 28_022_709, 3_100_000_000)] == [
        "size not stated", "12 bytes", "28.0 MB", "3.1 GB",
    ]  # fmt: skip
