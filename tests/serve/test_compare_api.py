"""The same message answered several ways, and nothing of it stored."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from allears.memory import Memory
from allears.serve.app import create_app
from allears.serve.settings import ServerSettings
from allears.serve.voices import ServedVoice
from echo_listener import Echo
from serving import begin, say


class Broken(Echo):
    def respond(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("a secret of the listener's")

    respond_many = respond


class Pal(Echo):
    """A voice with an alpha; it notes what it was asked."""

    takes_alpha = True

    def _reply(self, message: str, conversation: Any, seed: int, wish: Any) -> Any:
        self.wish = wish
        return super()._reply(message, conversation, seed, wish)


@pytest.fixture
def voices(memory: Memory) -> Any:
    plain, pal = Echo(), Pal()
    made = [ServedVoice("default", plain), ServedVoice("pal", pal), ServedVoice("broken", Broken())]
    app = create_app(made, memory, ServerSettings(rate=1000, burst=1000))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client, plain, pal


def compare(client: TestClient, *columns: dict[str, Any], **body: Any) -> Any:
    return client.post("/api/compare", json={"columns": list(columns), **body})


def test_three_personas_answer_one_message_and_nothing_is_stored(serve):
    listener = Echo()
    client = serve(listener)
    personas = [["I cook."], ["I sail."], []]
    answer = compare(client, *({"listener_persona": each} for each in personas), text="hello").json()
    assert answer["message"] == "hello"
    assert len(answer["columns"]) == 3
    assert all("you said: hello" in column["text"] for column in answer["columns"])
    seen = sorted(list(each.personas["supporter"].texts) for each in listener.seen)
    assert seen == sorted(personas)
    assert client.get("/api/conversations").json() == {"conversations": []}
    assert client.get("/api/persona").json() == {"sentences": []}


def test_several_voices_answer_in_a_conversation_that_stays_as_it_is(voices: Any):
    client, plain, pal = voices
    talk = begin(client)
    say(client, talk, "I am called Mira.")
    before = client.get("/api/export").json()
    answer = compare(
        client, {"voice": "default"}, {"voice": "pal", "alpha": 0.5}, text="hello", conversation=talk
    )
    first, second = answer.json()["columns"]
    assert first["text"] == second["text"] == f"In {talk}, after 2 turns, you said: hello"
    assert (first["why"]["voice"], second["why"]["voice"]) == ("default", "pal")
    assert pal.wish.alpha == 0.5
    assert (second["alpha"], second["note"]) == (0.5, "")
    assert plain.seen[-1].personas["seeker"].texts == ("I am called Mira.",)
    assert client.get("/api/export").json() == before


def test_a_voice_without_alpha_says_so(voices: Any):
    client, _, _ = voices
    (column,) = compare(client, {"alpha": 0.5}, text="hello").json()["columns"]
    assert column["alpha"] is None
    assert "has no alpha" in column["note"]
    assert column["text"]


def test_the_last_message_of_a_conversation_is_answered_anew(client: TestClient):
    talk = begin(client)
    say(client, talk, "one")
    say(client, talk, "two")
    answer = compare(client, {"strategy": "Question", "seed": 3}, conversation=talk).json()
    assert answer["message"] == "two"
    (column,) = answer["columns"]
    assert column["text"] == f"In {talk}, after 2 turns, you said: two"
    assert (column["why"]["wished"], column["why"]["seed"]) == ("Question", 3)
    assert len(client.get(f"/api/conversations/{talk}").json()["turns"]) == 4


def test_one_voice_that_fails_does_not_cost_the_others_their_answer(voices: Any):
    client, _, _ = voices
    first, second = compare(client, {"voice": "broken"}, {"voice": "pal"}, text="hello").json()["columns"]
    assert (first["text"], first["why"]) == (None, None)
    assert first["error"] == "Something went wrong here; it was logged. Please try again."
    assert second["error"] is None
    assert second["text"]


def test_danger_is_answered_as_danger_in_every_column(client: TestClient):
    columns = compare(client, {}, {"listener_persona": ["I cook."]}, text="danger").json()["columns"]
    assert [column["why"]["kind"] for column in columns] == ["crisis", "crisis"]
    assert all(column["why"]["help"]["crisis"] for column in columns)


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"columns": []}, 422, "columns"),
        ({"columns": [{}] * 5, "text": "x"}, 422, "at most 4"),
        ({"columns": [{}]}, 422, "give a message, or a conversation"),
        ({"columns": [{}], "text": " "}, 422, "at least one word"),
        ({"columns": [{"voice": "nobody"}], "text": "x"}, 422, "no such voice"),
        ({"columns": [{"alpha": -1}], "text": "x"}, 422, "alpha"),
        ({"columns": [{"alpha": 99}], "text": "x"}, 422, "alpha"),
        ({"columns": [{"strategy": "Shouting"}], "text": "x"}, 422, "no such strategy"),
        ({"columns": [{}], "conversation": "nonsense"}, 404, "no such conversation"),
    ],
)
def test_what_cannot_be_compared_is_told(client: TestClient, body: dict[str, Any], status: int, told: str):
    answer = client.post("/api/compare", json=body)
    assert answer.status_code == status
    assert told in answer.json()["error"]


def test_an_empty_conversation_has_no_last_message(client: TestClient):
    answer = compare(client, {}, conversation=begin(client))
    assert answer.status_code == 409
    assert "Nothing has been said" in answer.json()["error"]


def test_every_column_counts_against_the_rate(serve):
    client = serve(rate=0.01, burst=4)
    assert compare(client, {}, {}, {}, text="hello").status_code == 200
    assert compare(client, {}, {}, text="hello").status_code == 429
