"""Why, over a whole conversation; and which words matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient

from allears.conversation import PersonaSentence
from allears.labels import ED_EMOTIONS
from allears.listener.matching import Matched, MatchedWord, Side
from echo_listener import Echo
from serving import begin, say


class Explaining(Echo):
    """Knows which words matched: the first of each text."""

    def matched_words(
        self, message: str, reply: str, persona: Sequence[PersonaSentence] = (), listener: Sequence[str] = ()
    ) -> Matched:
        self.asked = (message, reply, tuple(persona), tuple(listener))
        side = Side("message", message, "", (MatchedWord(2, 4, 1.0),), ((0, 0, 1.0),))
        return Matched(reply, (MatchedWord(0, 2, 1.0),), (side,))


@pytest.fixture
def explaining(serve) -> tuple[TestClient, Explaining]:
    listener = Explaining()
    return serve(listener), listener


def test_feelings_and_strategies_of_a_whole_conversation_come_at_once(client: TestClient):
    talk = begin(client)
    for text in ("one", "danger", "three"):
        say(client, talk, text)
    found = client.get(f"/api/conversations/{talk}/reasons").json()
    assert found["emotions"] == list(ED_EMOTIONS)
    assert [each["turn"] for each in found["replies"]] == [2, 4, 6]
    first, second, _ = found["replies"]
    assert first["shares"][found["emotions"].index("hopeful")] == 1.0
    assert sum(first["shares"]) == 1.0
    assert (first["strategy"], first["voice"], first["milliseconds"]) == ("Question", "default", 5.0)
    assert (second["kind"], second["danger"], second["shares"]) == ("crisis", "suicide", [])


def test_a_long_conversation_gives_its_latest_replies(client: TestClient):
    talk = begin(client)
    for number in range(4):
        say(client, talk, f"message {number}")
    replies = client.get(f"/api/conversations/{talk}/reasons?last=2").json()["replies"]
    assert [each["turn"] for each in replies] == [6, 8]
    assert client.get(f"/api/conversations/{talk}/reasons?last=0").status_code == 422


def test_matching_words_are_found_in_what_was_said(explaining: Any):
    client, listener = explaining
    talk = begin(client)
    said = say(client, talk, "🫂 hello").json()
    found = client.get(f"/api/conversations/{talk}/turns/2/words").json()
    assert found["reply"]["text"] == said["text"]
    assert listener.asked[:2] == ("🫂 hello", said["text"])
    (side,) = found["others"]
    assert (side["of"], side["source"], side["links"]) == ("message", "turn 1", [[0, 0, 1.0]])
    # counted as a browser does: the hug is two signs long there
    assert side["words"] == [{"start": 3, "end": 5, "weight": 1.0}]
    assert client.get("/api/about").json()["voices"][0]["shows_words"] is True


def test_a_text_that_was_written_beforehand_has_no_matching_words(explaining: Any):
    client, _ = explaining
    talk = begin(client)
    say(client, talk, "danger")
    answer = client.get(f"/api/conversations/{talk}/turns/2/words")
    assert answer.status_code == 409
    assert "written beforehand" in answer.json()["error"]
    assert client.get(f"/api/conversations/{talk}/turns/1/words").status_code == 404


def test_a_voice_that_does_not_know_says_so(client: TestClient):
    talk = begin(client)
    say(client, talk, "hello")
    answer = client.get(f"/api/conversations/{talk}/turns/2/words")
    assert answer.status_code == 409
    assert "does not say which words" in answer.json()["error"]
