"""What people paste and send by mistake, over a real connection: told in words, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from live_server import LiveServer, live_server

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("bad-input")
    with live_server(str(folder / "memory.db"), folder) as started:
        yield started


@pytest.fixture
def path(live: LiveServer) -> str:
    talk = httpx.post(f"{live.url}/api/conversations").json()["id"]
    return f"{live.url}/api/conversations/{talk}"


@pytest.mark.parametrize("size", [MEGABYTE, 5 * MEGABYTE])
def test_a_paste_of_a_megabyte_is_refused_in_words_and_the_connection_goes_on(path: str, size: int):
    with httpx.Client() as browser:
        answer = browser.post(f"{path}/messages", json={"text": "x" * size})
        assert answer.status_code == 413
        assert answer.json()["error"].startswith("That is too much at once")
        assert browser.post(f"{path}/messages", json={"text": "hello"}).json()["turn"] == 2


def test_a_paste_that_does_not_say_its_length_is_refused_as_well(path: str):
    def pieces() -> Iterator[bytes]:
        yield b'{"text": "'
        for _ in range(64):
            yield b"x" * 16 * 1024
        yield b'"}'

    answer = httpx.post(f"{path}/messages", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


def test_a_message_that_is_too_long_says_how_long_one_may_be(path: str):
    answer = httpx.post(f"{path}/messages", json={"text": "x" * 8001})
    assert answer.status_code == 422
    assert answer.json() == {
        "error": "text: at most 8,000 characters are taken at once; please send it in parts."
    }


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "\u202eטקסט מימין לשמאל\u202c and back",
        "🫂👩\u200d👩\u200d👧\u200d👦 é é",
        "a\u0000b\u2028c",
        "{{7*7}} ${7*7} %s %00",
    ],
)
def test_markup_and_signs_of_every_kind_come_back_as_they_were_and_as_data(path: str, text: str):
    assert httpx.post(f"{path}/messages", json={"text": text}).status_code == 200
    assert httpx.patch(path, json={"title": text[:120], "listener_persona": [text]}).status_code == 200
    shown = httpx.get(path)
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.json()["turns"][0]["text"] == text
    assert shown.json()["listener_persona"] == [text.strip()]
    assert httpx.get(f"{path}/export?format=markdown").status_code == 200
    assert httpx.get(f"{path}/export?format=json").json()["turns"][0]["text"] == text
