"""What every request passes, and what is written down about it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketDenialResponse

from allears.errors import AllearsError
from allears.memory import Memory, UnavailableError
from allears.safety.screen import CrisisScreen
from allears.serve.app import create_app
from echo_listener import Echo
from serving import ANNA, BEN, begin, connect, say

METRICS = "a-token-for-prometheus"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
def test_a_page_from_elsewhere_reaches_nothing_on_this_machine(client: TestClient, headers: dict[str, str]):
    talk = begin(client)
    for path in ("/api/conversations", "/api/export", "/api/health", "/api/metrics", "/v1/models"):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    assert say(client, talk, "hello", **headers).status_code == 403
    with pytest.raises(WebSocketDenialResponse) as denied, connect(client, talk, headers=headers):
        pass
    assert denied.value.status_code == 403
    assert client.get(f"/api/conversations/{talk}").json()["turns"] == []


def test_no_page_may_read_answers_unless_it_was_allowed(serve):
    closed, allowed = serve(), serve(origins=("http://localhost:5173",))
    page = {"Origin": "http://localhost:5173"}
    ask_ahead = {
        **page,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    assert closed.options("/api/conversations", headers=ask_ahead).status_code == 403
    assert "access-control-allow-origin" not in closed.get("/api/conversations").headers
    assert allowed.options("/api/conversations", headers=ask_ahead).status_code == 200
    answer = allowed.post("/api/conversations", headers=page)
    assert answer.status_code == 201
    assert answer.headers["access-control-allow-origin"] == page["Origin"]


def test_asking_ahead_needs_no_token_and_gives_nothing(serve):
    client = serve(tokens=(ANNA,), origins=("https://talk.example.org",))
    page = {"Origin": "https://talk.example.org", "Access-Control-Request-Method": "GET"}
    assert client.options("/api/export", headers=page).status_code == 200
    assert client.options("/api/export").status_code == 405


def test_answers_are_not_kept_by_caches_nor_framed(client: TestClient):
    headers = client.get("/api/conversations").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_body_beyond_the_limit_is_refused_whether_it_says_its_length_or_not(serve):
    client = serve(body_bytes=1000)
    talk = begin(client)
    path = f"/api/conversations/{talk}/messages"
    answer = client.post(path, json={"text": "x" * 1000})
    assert answer.status_code == 413
    assert answer.json() == {
        "error": "That is too much at once: at most 1,000 bytes are taken. Please send less."
    }

    def parts():
        for _ in range(20):
            yield b"x" * 100

    assert client.post(path, content=parts()).status_code == 413
    assert (
        client.post("/v1/chat/completions", content=parts())
        .json()["error"]["message"]
        .startswith("That is too much")
    )
    with connect(client, talk) as socket:
        socket.send_json({"text": "x" * 1000})
        assert socket.receive_json()["status"] == 413
    assert client.get(f"/api/conversations/{talk}").json()["turns"] == []


def test_whoever_asks_too_often_is_told_when_to_come_back(serve):
    client = serve(rate=0.01, burst=4)
    talk = begin(client)
    assert [say(client, talk, "hello").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    answer = say(client, talk, "hello")
    seconds = answer.headers["retry-after"]
    assert 80 <= int(seconds) <= 100
    assert f"try again in {seconds} s" in answer.json()["error"]
    assert client.get("/api/health").status_code == 200  # who watches over the server is always answered


def test_messages_over_a_websocket_are_counted_too(serve):
    client = serve(rate=0.01, burst=4)
    talk = begin(client)
    with connect(client, talk) as socket:
        kinds = []
        for _ in range(4):
            socket.send_json({"text": "hi"})
            while (message := socket.receive_json())["type"] == "piece":
                pass
            kinds.append(message.get("status", message["type"]))
        assert kinds == ["reply", "reply", 429, 429]
        assert message["retry_after"] >= 1


def test_a_person_may_hold_only_so_many_connections_open(serve):
    client = serve(sockets=2)
    talk = begin(client)
    with connect(client, talk), connect(client, talk):
        with pytest.raises(WebSocketDenialResponse) as denied, connect(client, talk):
            pass
        assert denied.value.status_code == 429
    with connect(client, talk) as socket:
        socket.send_json({"text": "there is room again"})
        assert socket.receive_json()["type"] == "piece"


def test_whoever_guesses_tokens_is_slowed_down_and_the_others_are_not(serve):
    client = serve(tokens=(ANNA,), rate=0.01, burst=3)
    wrong = {"Authorization": "Bearer not-annas-access-token"}
    answers = [client.get("/api/consent", headers=wrong).status_code for _ in range(5)]
    assert answers == [401, 401, 401, 429, 429]
    assert client.get("/api/consent", headers={"Authorization": f"Bearer {ANNA}"}).status_code == 200


def test_too_many_waiting_messages_are_told_to_come_back(serve):
    from concurrent.futures import ThreadPoolExecutor

    client = serve(Echo(delay=0.3), waiting=2, batch_size=1)
    talks = [begin(client) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda talk: say(client, talk, "hello"), talks))
    busy = [answer for answer in answers if answer.status_code == 503]
    assert busy
    assert busy[0].headers["retry-after"] == "1"
    assert "Many people" in busy[0].json()["error"]
    assert {answer.status_code for answer in answers} == {200, 503}


def test_no_words_tokens_or_persona_are_logged(serve, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    client = serve(tokens=(ANNA,))
    client.headers["Authorization"] = f"Bearer {ANNA}"
    talk = begin(client)
    secret = "lighthouse"
    say(client, talk, f"my {secret}", **{"Idempotency-Key": f"key {secret}"})
    say(client, talk, f"crash {secret}")
    say(client, talk, f"I am called {secret}")
    client.put("/api/consent", json={"agreed": True})
    client.post("/api/persona", json={"text": f"I like the {secret}."})
    client.post(f"/api/conversations/{talk}/messages", json={"text": {"no text": secret}})
    client.post(f"/api/conversations/{talk}/messages", content=f'{{"{secret}')
    client.get(f"/api/conversations/{secret}?{secret}={ANNA}")
    client.get(f"/{secret}")
    client.get(f"/{secret}.js")
    client.get("/api/conversations", params={"search": secret})
    client.patch(f"/api/conversations/{talk}", json={"title": secret, "listener_persona": [secret]})
    client.patch(f"/api/conversations/{talk}", json={"voice": secret, "country": secret})
    client.post("/api/compare", json={"text": f"crash {secret}", "columns": [{"listener_persona": [secret]}]})
    client.post(f"/api/conversations/{talk}/stop", json={"key": f"key {secret}"})
    client.get(f"/api/conversations/{talk}/export")
    client.get("/api/export")
    client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": f"crash {secret}"}]})
    client.get("/api/consent", headers={"Authorization": f"Bearer wrong-{secret}-token"})
    with connect(client, talk, headers={"Authorization": f"Bearer {ANNA}"}) as socket:
        socket.send_text(secret)
        socket.receive_json()
        socket.send_json({"text": secret})
        while socket.receive_json()["type"] == "piece":
            pass
        socket.send_json({"text": f"crash {secret}"})
        assert socket.receive_json()["status"] == 500
    ours = "\n".join(
        f"{record.getMessage()} {record.exc_info}"
        for record in caplog.records
        if not record.name.startswith("httpx")  # the client's own
    )
    assert "RuntimeError at" in ours  # the crash is there, by its kind and place
    assert "POST /api/conversations/{conversation}/messages 200" in ours
    assert secret not in ours
    assert ANNA not in ours
    assert talk not in ours
    assert "I like" not in ours


def test_a_database_that_is_gone_is_told_in_words_that_give_nothing_away(
    serve, memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    client = serve()
    talk = begin(client)

    def gone(*_: object, **__: object) -> None:
        raise UnavailableError("/home/somebody/memory.db: the disk is full")

    for method in ("load", "append", "consent", "erase"):
        monkeypatch.setattr(memory, method, gone)
    answer = say(client, talk, "hello")
    assert answer.status_code == 503
    assert answer.json() == {"error": "The database cannot be used now; try again in a moment."}
    assert answer.headers["retry-after"] == "1"
    assert client.get("/api/health").status_code == 503
    assert "erase once more" in client.post("/api/erase", json={"sure": True}).json()["error"]
    assert "somebody" not in client.post("/api/erase", json={"sure": True}).text


def test_the_counts_are_there_without_words_or_people(client: TestClient):
    talk = begin(client)
    say(client, talk, "lighthouse")
    client.get("/api/nothing/lighthouse")
    text = client.get("/api/metrics").text
    assert client.get("/api/metrics").headers["content-type"].startswith("text/plain")
    assert "allears_replies_total 1.0" in text
    route = 'route="/api/conversations/{conversation}/messages"'
    assert f'allears_requests_total{{method="POST",{route},status="200"}} 1.0' in text
    for step in ("load", "listen", "store", "listener/read", "listener/rank"):
        assert f'allears_step_seconds_count{{step="{step}"}} 1.0' in text
    assert "allears_batch_size_count 1.0" in text
    assert "lighthouse" not in text
    assert talk not in text


def test_made_up_methods_and_paths_do_not_swell_the_counts(client: TestClient):
    for number in range(20):
        client.request(f"METHOD{number}", f"/api/nothing/{number}")
    text = client.get("/api/metrics").text
    assert text.count("allears_requests_total{") < 5


def test_counts_over_all_people_need_their_own_token(serve):
    client = serve(tokens=(ANNA, BEN), metrics_token=METRICS)
    for token, status in ((METRICS, 200), (ANNA, 401)):
        answer = client.get("/api/metrics", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status
    assert client.get("/api/metrics").status_code == 401
    assert client.get("/api/export", headers={"Authorization": f"Bearer {METRICS}"}).status_code == 401


def test_a_listener_without_its_crisis_screen_is_not_served(memory: Memory):
    listener = Echo()
    listener.screen = CrisisScreen(None, turn_crisis_screening_off=True)  # type: ignore[attr-defined]
    with pytest.raises(AllearsError, match="must screen for crises"):
        create_app(listener, memory)


def test_a_server_imports_nothing_that_only_training_needs():
    code = (
        "import sys, allears.cli.serve, allears.serve.app, allears.serve.loading, allears.serve.run; "
        "print(*[name for name in ('torch', 'transformers', 'pandas', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
