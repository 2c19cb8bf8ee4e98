"""Two replicas behind Ray Serve, one PostgreSQL. Ray takes its time to start, so everything is asked of one start."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from allears.errors import AllearsError
from allears.serve.ray import serve_with_ray
from allears.serve.settings import ServerSettings
from echo_listener import Echo
from live_server import wait_until_well
from serving import ANNA, BEN

pytest.importorskip("ray")
TESTS = Path(__file__).parents[1]
ANNAS = {"Authorization": f"Bearer {ANNA}"}


@pytest.fixture(scope="module")
def server(postgres_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("ray") / "log"
    environment = os.environ | {"PYTHONPATH": str(TESTS), "RAY_DEDUP_LOGS": "0"}
    command = [sys.executable, str(TESTS / "ray_server.py"), postgres_server.get_uri(), str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
    try:
        wait_until_well(f"http://127.0.0.1:{port}", process, seconds=300)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert "lighthouse" not in log.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_two_replicas_share_every_conversation_and_mix_none(server: str):
    with httpx.Client(base_url=server, headers=ANNAS, timeout=60) as client:

        def talk(number: int) -> list[Any]:
            name = client.post("/api/conversations").json()["id"]
            path = f"/api/conversations/{name}/messages"
            answers = [client.post(path, json={"text": f"lighthouse {number}.{n}"}) for n in range(5)]
            assert [answer.json()["text"] for answer in answers] == [
                f"In {name}, after {2 * n} turns, you said: lighthouse {number}.{n}" for n in range(5)
            ]
            return [answer.json()["why"]["screening"]["process"] for answer in answers]

        # the second replica may still be starting when the first one answers already
        processes: set[int] = set()
        deadline = time.monotonic() + 90
        with ThreadPoolExecutor(8) as threads:
            while len(processes) < 2 and time.monotonic() < deadline:
                processes |= {process for found in threads.map(talk, range(8)) for process in found}
    assert len(processes) == 2


def test_two_writers_on_one_conversation_keep_one_order_across_replicas(server: str):
    with httpx.Client(base_url=server, headers=ANNAS, timeout=60) as client:
        name = client.post("/api/conversations").json()["id"]
        path = f"/api/conversations/{name}/messages"

        def say(number: int) -> int:
            return client.post(path, json={"text": f"message {number}"}).status_code

        with ThreadPoolExecutor(4) as threads:
            assert set(threads.map(say, range(8))) == {200}
        turns = [turn["text"] for turn in client.get(f"/api/conversations/{name}").json()["turns"]]
    assert sorted(turns[::2]) == [f"message {number}" for number in range(8)]
    for number in range(0, 16, 2):
        assert turns[number + 1] == f"In {name}, after {number} turns, you said: {turns[number]}"


def test_a_request_sent_many_times_to_both_replicas_is_stored_once(server: str):
    with httpx.Client(base_url=server, headers=ANNAS, timeout=60) as client:
        name = client.post("/api/conversations").json()["id"]

        def say(_: int) -> Any:
            return client.post(
                f"/api/conversations/{name}/messages",
                json={"text": "hello"},
                headers={"Idempotency-Key": "k"},
            ).json()

        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(say, range(8)))
        assert all(answer == answers[0] for answer in answers)
        assert len(client.get(f"/api/conversations/{name}").json()["turns"]) == 2


def test_events_websockets_and_doors_are_the_same_behind_ray(server: str):
    with httpx.Client(base_url=server, headers=ANNAS, timeout=60) as client:
        name = client.post("/api/conversations").json()["id"]
        events = client.post(f"/api/conversations/{name}/messages/stream", json={"text": "hello"}).text
        assert events.count("event: piece") > 5
        assert events.count("event: reply") == 1
        socket_url = f"ws{server.removeprefix('http')}/api/conversations/{name}/ws"
        with connect(socket_url, additional_headers=ANNAS) as socket:
            socket.send(json.dumps({"text": "and on"}))
            while (message := json.loads(socket.recv(timeout=30)))["type"] == "piece":
                pass
        assert message["turn"] == 4
        other = {"Authorization": f"Bearer {BEN}"}
        assert client.get(f"/api/conversations/{name}", headers=other).status_code == 404
        assert client.get("/api/conversations", headers={"Authorization": "Bearer x"}).status_code == 401
        assert client.get("/api/conversations", headers={"Host": "attacker.example"}).status_code == 403


@pytest.mark.parametrize("database", [None, "memory.db", "sqlite:///memory.db"])
def test_replicas_need_a_database_that_they_can_share(database: str | None):
    with pytest.raises(AllearsError, match="replicas share one PostgreSQL"):
        serve_with_ray(Echo, ServerSettings(), database, 2)
