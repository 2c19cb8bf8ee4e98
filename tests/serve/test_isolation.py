"""One person can neither read, nor infer, nor change, nor erase what is another's."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketDenialResponse

from allears.serve.auth import person_of
from echo_listener import Echo
from serving import ANNA, BEN, begin, connect, say

People = tuple[TestClient, TestClient]
SECRET = "the thing about the lighthouse"
NOWHERE = "0123456789abcdef"  # an id as the server gives them, given to nobody


@pytest.fixture
def annas(people: People) -> tuple[str, str]:
    """A conversation of Anna's, and a sentence about her."""
    anna, _ = people
    anna.put("/api/consent", json={"agreed": True})
    talk = begin(anna)
    say(anna, talk, SECRET, **{"Idempotency-Key": "annas key"})
    return talk, anna.post("/api/persona", json={"text": f"I know {SECRET}."}).json()["id"]


def calls(talk: str, sentence: str) -> list[tuple[str, str, Any]]:
    """Everything that can be asked about a conversation or a sentence by its id."""
    return [
        ("GET", f"/api/conversations/{talk}", None),
        ("DELETE", f"/api/conversations/{talk}", None),
        ("POST", f"/api/conversations/{talk}/messages", {"text": "hello"}),
        ("POST", f"/api/conversations/{talk}/messages/stream", {"text": "hello"}),
        ("POST", f"/api/conversations/{talk}/undo", None),
        ("GET", f"/api/conversations/{talk}/turns/2/why", None),
        ("PATCH", f"/api/conversations/{talk}", {"title": "hello"}),
        ("PATCH", f"/api/conversations/{talk}", {}),
        ("GET", f"/api/conversations/{talk}/export?format=json", None),
        ("GET", f"/api/conversations/{talk}/export?format=markdown", None),
        ("GET", f"/api/conversations/{talk}/reasons", None),
        ("GET", f"/api/conversations/{talk}/turns/2/words", None),
        ("POST", f"/api/conversations/{talk}/messages", {"text": "hello", "replaces": 1}),
        ("POST", f"/api/conversations/{talk}/undo", {"turn": 1}),
        ("POST", f"/api/conversations/{talk}/stop", None),
        ("POST", f"/api/conversations/{talk}/stop", {"key": "annas key"}),
        ("POST", "/api/compare", {"conversation": talk, "columns": [{}]}),
        ("POST", "/api/compare", {"conversation": talk, "text": "hello", "columns": [{}]}),
        ("GET", f"/api/persona?conversation={talk}", None),
        ("POST", f"/api/persona?conversation={talk}", {"text": "hello"}),
        ("PUT", f"/api/persona/{sentence}", {"text": "hello"}),
        ("DELETE", f"/api/persona/{sentence}", None),
        (
            "POST",
            "/v1/chat/completions",
            {
                "messages": [{"role": "user", "content": "hello"}],
                "store": True,
                "metadata": {"conversation": talk},
            },
        ),
    ]


def test_what_is_anothers_and_what_is_nowhere_are_answered_exactly_alike(
    people: People, annas: tuple[str, str]
):
    anna, ben = people
    before = anna.get("/api/export").json()
    for real, made_up in zip(calls(*annas), calls(NOWHERE, NOWHERE), strict=True):
        method, path, body = real
        theirs = ben.request(method, path, json=body)
        nothing = ben.request(made_up[0], made_up[1], json=made_up[2])
        assert theirs.status_code == nothing.status_code == 404, path
        assert theirs.content == nothing.content
        assert dict(theirs.headers) == dict(nothing.headers)
    assert anna.get("/api/export").json() == before


def test_a_websocket_to_anothers_conversation_is_refused_like_one_to_nowhere(
    people: People, annas: tuple[str, str]
):
    _, ben = people
    denials = []
    for talk in (annas[0], NOWHERE, "nonsense"):
        with pytest.raises(WebSocketDenialResponse) as denied, connect(ben, talk):
            pass
        denials.append((denied.value.status_code, denied.value.content))
    assert denials == [(404, b'{"error":"There is no such conversation."}')] * 3


def test_lists_and_exports_hold_ones_own_only(people: People, annas: tuple[str, str]):
    _, ben = people
    assert ben.get("/api/conversations").json() == {"conversations": []}
    assert ben.get("/api/conversations?search=lighthouse").json() == {"conversations": []}
    assert ben.get("/api/persona").json() == {"sentences": []}
    assert ben.get("/api/consent").json() == {"agreed": False, "asked": False}
    exported = ben.get("/api/export").text
    assert SECRET not in exported
    assert annas[0] not in exported


def test_erasing_erases_ones_own_only(people: People, annas: tuple[str, str]):
    anna, ben = people
    begin(ben)
    assert ben.post("/api/erase", json={"sure": True}).json()["conversations"] == 1
    assert SECRET in anna.get(f"/api/conversations/{annas[0]}").text
    assert anna.get("/api/consent").json() == {"agreed": True, "asked": True}


def test_anothers_idempotency_key_gives_nothing_of_theirs(people: People, annas: tuple[str, str]):
    anna, ben = people
    talk = begin(ben)
    answer = say(ben, talk, "my own words", **{"Idempotency-Key": "annas key"})
    assert answer.json()["text"] == f"In {talk}, after 0 turns, you said: my own words"
    start = anna.post("/api/conversations", headers={"Idempotency-Key": "start"}).json()["id"]
    assert ben.post("/api/conversations", headers={"Idempotency-Key": "start"}).json()["id"] != start
    again = say(anna, annas[0], SECRET, **{"Idempotency-Key": "annas key"})
    assert again.json()["turn"] == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Allears-User": person_of(ANNA, "")},
        {"X-Forwarded-User": person_of(ANNA, ""), "X-Remote-User": "me"},
        {"Cookie": f"token={ANNA}; person=me"},
        {"X-Api-Key": ANNA},
    ],
)
def test_no_header_makes_one_person_another(people: People, annas: tuple[str, str], headers: dict[str, str]):
    _, ben = people
    assert ben.get(f"/api/conversations/{annas[0]}", headers=headers).status_code == 404
    assert ben.get(f"/api/conversations/{annas[0]}?token={ANNA}", headers=headers).status_code == 404


def test_the_openai_field_user_makes_nobody_another(people: People, annas: tuple[str, str]):
    _, ben = people
    body = {
        "messages": [{"role": "user", "content": "hello"}],
        "user": person_of(ANNA, ""),
        "store": True,
        "metadata": {"conversation": annas[0]},
    }
    assert ben.post("/v1/chat/completions", json=body).status_code == 404


def test_without_a_valid_token_nothing_is_answered_but_health(people: People, annas: tuple[str, str]):
    anna, _ = people
    stranger = TestClient(anna.app, base_url="http://localhost")
    stranger.portal = anna.portal
    for headers in ({}, {"Authorization": "Bearer wrong-but-long-enough"}, {"X-Allears-User": "me"}):
        for method, path, body in [
            *calls(*annas),
            ("GET", "/api/conversations", None),
            ("POST", "/api/conversations", None),
            ("GET", "/api/export", None),
            ("GET", "/api/about", None),
            ("POST", "/api/compare", {"text": "hello", "columns": [{}]}),
            ("POST", "/api/erase", {"sure": True}),
            ("GET", "/api/metrics", None),
            ("GET", "/api/nothing", None),
            ("GET", "/v1/models", None),
            ("POST", "/api/conversations", "{not json"),
        ]:
            answer = stranger.request(method, path, json=body, headers=headers)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
        with pytest.raises(WebSocketDenialResponse) as denied, connect(stranger, annas[0], headers=headers):
            pass
        assert denied.value.status_code == 401
    assert stranger.get("/api/health").status_code == 200


def test_a_browsers_websocket_brings_its_token_among_the_protocols(people: People, annas: tuple[str, str]):
    anna, _ = people
    browser = TestClient(anna.app, base_url="http://localhost")
    browser.portal = anna.portal
    with connect(browser, annas[0], subprotocols=["allears", f"allears.token.{ANNA}"]) as socket:
        assert socket.accepted_subprotocol == "allears"  # the token is not sent back
        socket.send_json({"text": "hello"})
        assert socket.receive_json()["type"] == "piece"
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        connect(browser, annas[0], subprotocols=["allears", f"allears.token.{BEN}"]),
    ):
        pass
    assert denied.value.status_code == 404


def test_one_persons_haste_does_not_slow_another(serve, memory):
    anna = serve(tokens=(ANNA, BEN), rate=0.01, burst=3)
    tokens = {name: {"Authorization": f"Bearer {token}"} for name, token in (("anna", ANNA), ("ben", BEN))}
    answers = [anna.get("/api/consent", headers=tokens["anna"]).status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]
    assert anna.get("/api/consent", headers=tokens["ben"]).status_code == 200


def test_nobody_stops_anothers_reply(serve):
    anna = serve(Echo(delay=0.4), tokens=(ANNA, BEN))
    tokens = [{"Authorization": f"Bearer {token}"} for token in (ANNA, BEN)]
    talk = anna.post("/api/conversations", headers=tokens[0]).json()["id"]
    with ThreadPoolExecutor(1) as thread:
        key = {**tokens[0], "Idempotency-Key": "k"}
        answer = thread.submit(say, anna, talk, "hello", **key)
        time.sleep(0.15)
        for body in (None, {"key": "k"}):
            stopped = anna.post(f"/api/conversations/{talk}/stop", headers=tokens[1], json=body)
            assert stopped.status_code == 404
        assert answer.result().status_code == 200


def test_waiting_for_anothers_conversation_does_not_hold_it_up(people: People, annas: tuple[str, str]):
    anna, ben = people
    assert say(ben, annas[0], "let me in").status_code == 404
    assert say(anna, annas[0], "still quick").json()["turn"] == 4
