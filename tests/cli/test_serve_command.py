"""`allears serve`, up to the moment it would listen."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from allears.serve import loading
from allears.serve import run as running
from allears.serve.settings import ServerSettings
from allears.serve.voices import ServedVoice
from command_line import Run
from echo_listener import Echo

TOKEN = "a-token-that-is-long-enough"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What the command would have served, in place of serving it."""
    found: list[Any] = []

    def run(app: Any, settings: ServerSettings, opened: socket.socket) -> None:
        with TestClient(app, base_url="http://localhost") as client:
            found.append((client.get("/api/health").status_code, settings, opened.getsockname()[0]))

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(loading, "shipped_voices", lambda *_, **__: Echo())
    for name in ("ALLEARS_TOKEN", "ALLEARS_DATABASE", "ALLEARS_KEY", "ALLEARS_SALT", "ALLEARS_METRICS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALLEARS_DATABASE", str(tmp_path / "memory.db"))
    return found


def test_by_default_only_this_machine_is_served(run: Run, started: list[Any]):
    answer = run("serve", "--port", 0)
    assert answer.code == 0, answer.err
    ((health, settings, address),) = started
    assert (health, address) == (200, "127.0.0.1")
    assert settings.tokens == ()
    assert "listening on http://127.0.0.1:" in answer.err
    assert "this machine only" in answer.err
    assert "memory.db" in answer.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org"])
def test_any_other_address_needs_a_token_and_says_so_in_one_sentence(run: Run, started: list[Any], host: str):
    answer = run("serve", "--host", host, "--port", 0)
    assert answer.code == 2
    assert "so it needs an access token" in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert started == []


def test_tokens_come_from_options_a_file_and_the_environment(
    run: Run, started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "tokens"
    file.write_text(f"# anna\n{TOKEN}-1\n\n{TOKEN}-2\n")
    answer = run("serve", "--host", "0.0.0.0", "--port", 0, "--token", f"{TOKEN}-3", "--token-file", file)
    assert answer.code == 0, answer.err
    assert set(started[0][1].tokens) == {f"{TOKEN}-{number}" for number in (1, 2, 3)}
    assert TOKEN not in answer.out + answer.err
    monkeypatch.setenv("ALLEARS_TOKEN", f"{TOKEN}-4 {TOKEN}-5")
    run("serve", "--port", 0)
    assert set(started[1][1].tokens) == {f"{TOKEN}-4", f"{TOKEN}-5"}


@pytest.mark.parametrize(
    ("content", "told"), [(b"\n# nobody\n", "no token in it"), (b"\xff\xfe\x00", "cannot read")]
)
def test_a_token_file_that_is_none_is_told(
    run: Run, started: list[Any], tmp_path: Path, content: bytes, told: str
):
    file = tmp_path / "tokens"
    file.write_bytes(content)
    answer = run("serve", "--token-file", file)
    assert answer.code == 2
    assert told in answer.err
    assert run("serve", "--token-file", tmp_path / "nothing").code == 2


def test_a_taken_port_is_told_before_anything_slow_happens(run: Run, started: list[Any]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = run("serve", "--port", taken.getsockname()[1])
    assert answer.code == 2
    assert "choose another with --host and --port" in answer.err
    assert started == []


def test_every_setting_reaches_the_server(run: Run, started: list[Any]):
    run(
        "serve", "--port", 0, "--no-batching", "--batch-size", 7, "--rate", 2, "--burst", 9,
        "--origin", "http://localhost:5173", "--token", TOKEN, "--allow-host", "talk.example.org",
        "--metrics-token", f"{TOKEN}-m", "--salt", "pepper",
    )  # fmt: skip
    settings = started[0][1]
    assert (settings.batching, settings.batch_size, settings.rate, settings.burst) == (False, 7, 2.0, 9)
    assert (settings.origins, settings.hosts) == (("http://localhost:5173",), ("talk.example.org",))
    assert (settings.metrics_token, settings.salt) == (f"{TOKEN}-m", "pepper")


def test_the_voices_that_were_named_are_opened(run: Run, started: list[Any], monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    def voices(*arguments: Any, **_: Any) -> Any:
        asked.append(arguments)
        return [ServedVoice(name, Echo()) for name in arguments[3]]

    monkeypatch.setattr(loading, "shipped_voices", voices)
    answer = run("serve", "--port", 0, "--voice", "chosen", "--voice", "runs/pal", "--country", "NZ")
    assert answer.code == 0, answer.err
    assert asked == [("default", (), "NZ", ("chosen", "runs/pal"))]


def test_ray_without_a_shared_database_is_refused(run: Run, started: list[Any]):
    answer = run("serve", "--ray")
    assert answer.code == 2
    assert "replicas share one PostgreSQL" in answer.err
