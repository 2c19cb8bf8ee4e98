"""A server that dies, a database that goes, a token that is wrong: nothing is lost, nothing stored twice."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from allears.memory import Memory
from allears.serve.auth import ME
from live_server import live_server
from serving import ANNA

KEY = {"Idempotency-Key": "one message, however often it is sent"}
TEXT = "My sister is moving away."


def turns(url: str) -> list[list[str]]:
    """The texts of all conversations, read without any server."""
    with Memory(url) as memory:
        return [
            [turn.text for turn in memory.load(ME, summary.id).turns] for summary in memory.conversations(ME)
        ]


def test_a_server_killed_between_the_message_and_the_reply_stores_it_once_when_the_client_asks_again(
    url: str, tmp_path: Path
):
    with live_server(url, tmp_path, "--delay", 30) as server:
        talk = httpx.post(f"{server.url}/api/conversations").json()["id"]
        path = f"/api/conversations/{talk}/messages"
        heard: list[Any] = []

        def ask() -> None:
            try:
                heard.append(httpx.post(server.url + path, json={"text": TEXT}, headers=KEY, timeout=60))
            except httpx.TransportError as error:
                heard.append(error)

        client = threading.Thread(target=ask)
        client.start()
        time.sleep(1.0)  # the listener is thinking
        server.kill()
        client.join()
        assert isinstance(heard[0], httpx.TransportError)
    assert turns(url) == [[]]
    with live_server(url, tmp_path) as server:
        answer = httpx.post(server.url + path, json={"text": TEXT}, headers=KEY)
        assert answer.status_code == 200
        assert httpx.post(server.url + path, json={"text": TEXT}, headers=KEY).json() == answer.json()
    assert turns(url) == [[TEXT, answer.json()["text"]]]


def test_a_server_killed_after_storing_and_before_answering_gives_the_stored_reply_when_asked_again(
    url: str, tmp_path: Path
):
    with live_server(url, tmp_path, "--die-after-storing") as server:
        talk = httpx.post(f"{server.url}/api/conversations").json()["id"]
        path = f"/api/conversations/{talk}/messages"
        with pytest.raises(httpx.TransportError):
            httpx.post(server.url + path, json={"text": TEXT}, headers=KEY)
        assert server.process.wait() == -9
    stored = turns(url)
    assert len(stored[0]) == 2
    with live_server(url, tmp_path) as server:
        answer = httpx.post(server.url + path, json={"text": TEXT}, headers=KEY)
        assert answer.json()["text"] == stored[0][1]
        assert answer.json()["turn"] == 2
        assert answer.json()["why"]["strategy"] == "Question"
        assert httpx.post(server.url + path, json={"text": "And then?"}).json()["turn"] == 4
    assert turns(url)[0][:2] == stored[0]


def test_beginning_a_conversation_over_a_killed_server_begins_one(url: str, tmp_path: Path):
    with live_server(url, tmp_path) as server:
        first = httpx.post(f"{server.url}/api/conversations", headers=KEY).json()["id"]
        server.kill()
    with live_server(url, tmp_path) as server:
        assert httpx.post(f"{server.url}/api/conversations", headers=KEY).json()["id"] == first
    assert turns(url) == [[]]


def test_a_server_that_is_asked_to_stop_finishes_the_reply_it_works_on(sqlite_url: str, tmp_path: Path):
    with live_server(sqlite_url, tmp_path, "--delay", 2) as server:
        talk = httpx.post(f"{server.url}/api/conversations").json()["id"]
        answers: list[httpx.Response] = []
        client = threading.Thread(
            target=lambda: answers.append(
                httpx.post(f"{server.url}/api/conversations/{talk}/messages", json={"text": TEXT}, timeout=60)
            )
        )
        client.start()
        time.sleep(1.0)
        server.process.terminate()
        client.join()
        assert answers[0].status_code == 200
        server.process.wait(20)
        assert "Traceback" not in server.log.read_text()
    assert turns(sqlite_url) == [[TEXT, answers[0].json()["text"]]]


def test_two_servers_on_one_database_keep_one_order(url: str, tmp_path: Path):
    with (
        live_server(url, tmp_path, "--delay", 0.02) as one,
        live_server(url, tmp_path, "--delay", 0.02) as two,
    ):
        talk = httpx.post(f"{one.url}/api/conversations").json()["id"]
        statuses: list[int] = []

        def chat(server: str, name: str) -> None:
            for number in range(6):
                path = f"{server}/api/conversations/{talk}/messages"
                said = {"text": f"{name} {number}"}
                statuses.append(httpx.post(path, json=said, timeout=60).status_code)

        writers = [
            threading.Thread(target=chat, args=(one.url, "one")),
            threading.Thread(target=chat, args=(two.url, "two")),
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert statuses == [200] * 12
    (talked,) = turns(url)
    assert len(talked) == 24
    for number in range(0, 24, 2):  # every reply answers the message before it, with all before that in mind
        assert talked[number + 1] == f"In {talk}, after {number} turns, you said: {talked[number]}"
    for name in ("one", "two"):
        assert [text for text in talked[::2] if text.startswith(name)] == [f"{name} {n}" for n in range(6)]


def test_a_database_that_goes_and_comes_back_costs_a_clear_error_and_nothing_else(tmp_path: Path):
    file = tmp_path / "memory.db"
    with live_server(str(file), tmp_path) as server:
        talk = httpx.post(f"{server.url}/api/conversations").json()["id"]
        path = f"{server.url}/api/conversations/{talk}/messages"
        first = httpx.post(path, json={"text": TEXT})
        away = tmp_path / "away.db"
        file.rename(away)
        gone = httpx.post(path, json={"text": "Are you there?"})
        assert gone.status_code == 503
        assert gone.json() == {"error": "The database cannot be used now; try again in a moment."}
        assert httpx.get(f"{server.url}/api/health").status_code == 503
        assert "no longer there" in server.log.read_text()  # whoever runs the server reads what is the matter
        away.rename(file)
        assert httpx.get(f"{server.url}/api/health").status_code == 200
        assert httpx.post(path, json={"text": "Are you there?"}).json()["turn"] == 4
    assert turns(str(file))[0][:2] == [TEXT, first.json()["text"]]


def test_a_wrong_token_is_told_so_and_changes_nothing(tmp_path: Path):
    with live_server(str(tmp_path / "memory.db"), tmp_path, tokens=(ANNA,)) as server:
        for headers in (
            {},
            {"Authorization": "Bearer an-old-and-expired-token"},
            {"Authorization": "Basic abc"},
        ):
            answer = httpx.post(f"{server.url}/api/conversations", headers=headers)
            assert answer.status_code == 401
            assert "access token" in answer.json()["error"]
        good = {"Authorization": f"Bearer {ANNA}"}
        assert httpx.get(f"{server.url}/api/conversations", headers=good).json() == {"conversations": []}
        assert "expired" not in server.log.read_text()
