"""What a person can do over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from allears import __version__
from allears.serve.settings import LONGEST_MESSAGE
from echo_listener import Echo
from serving import begin, connect, say


def test_a_conversation_begins_is_answered_listed_and_read(client: TestClient):
    talk = begin(client)
    answer = say(client, talk, "My sister is moving away.")
    assert answer.status_code == 200
    assert answer.json()["text"] == f"In {talk}, after 0 turns, you said: My sister is moving away."
    assert answer.json()["turn"] == 2
    assert answer.json()["why"]["strategy"] == "Question"
    say(client, talk, "To another country.")
    (summary,) = client.get("/api/conversations").json()["conversations"]
    assert (summary["id"], summary["turns"]) == (talk, 4)
    assert summary["first_words"] == "My sister is moving away."
    turns = client.get(f"/api/conversations/{talk}").json()["turns"]
    assert [turn["speaker"] for turn in turns] == ["seeker", "supporter"] * 2
    assert turns[2]["text"] == "To another country."


def test_the_reasons_of_every_reply_can_be_asked_for(client: TestClient):
    talk = begin(client)
    said = say(client, talk, "hello").json()
    why = client.get(f"/api/conversations/{talk}/turns/2/why").json()
    assert why == {"conversation": talk, "turn": 2, "why": said["why"]}
    for turn in (1, 3, 2**31 - 1):
        assert client.get(f"/api/conversations/{talk}/turns/{turn}/why").status_code == 404


def test_undo_takes_the_last_message_back(client: TestClient):
    talk = begin(client)
    say(client, talk, "first")
    say(client, talk, "second")
    after = client.post(f"/api/conversations/{talk}/undo").json()
    assert [turn["text"] for turn in after["turns"]][0::2] == ["first"]
    assert client.post(f"/api/conversations/{talk}/undo").json()["turns"] == []
    nothing = client.post(f"/api/conversations/{talk}/undo")
    assert nothing.status_code == 409
    assert "nothing to undo" in nothing.json()["error"]


def test_a_deleted_conversation_is_gone(client: TestClient):
    talk = begin(client)
    say(client, talk, "hello")
    assert client.delete(f"/api/conversations/{talk}").json() == {
        "conversations": 1,
        "turns": 2,
        "sentences": 0,
    }
    assert client.get(f"/api/conversations/{talk}").status_code == 404
    assert say(client, talk, "still there?").status_code == 404
    assert client.get("/api/conversations").json() == {"conversations": []}


@pytest.mark.parametrize("way", ["header", "path"])
def test_a_reply_can_come_word_by_word_and_then_whole(client: TestClient, way: str):
    talk = begin(client)
    path = f"/api/conversations/{talk}/messages" + ("/stream" if way == "path" else "")
    headers = {"Accept": "text/event-stream"} if way == "header" else {}
    answer = client.post(path, json={"text": "two  words\nhere"}, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    names = [name.removeprefix("event: ") for name, _ in events]
    data = [json.loads(line.removeprefix("data: ")) for _, line in events]
    assert names == ["piece"] * (len(names) - 1) + ["reply"]
    assert len(names) > 5
    assert "".join(each["text"] for each in data[:-1]) == data[-1]["text"]
    assert data[-1]["text"].endswith("you said: two  words\nhere")
    assert data[-1]["why"]["kind"] == "reply"
    assert client.get(f"/api/conversations/{talk}").json()["turns"][1]["text"] == data[-1]["text"]


def test_a_websocket_answers_message_after_message(client: TestClient):
    talk = begin(client)
    with connect(client, talk) as socket:
        for number, text in enumerate(["one", "two"]):
            socket.send_json({"text": text})
            pieces = []
            while (message := socket.receive_json())["type"] == "piece":
                pieces.append(message["text"])
            assert message["type"] == "reply"
            assert message["text"] == "".join(pieces)
            assert message["text"] == f"In {talk}, after {2 * number} turns, you said: {text}"
    assert len(client.get(f"/api/conversations/{talk}").json()["turns"]) == 4


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("nonsense", "not valid JSON"),
        ("[]", "object"),
        ("{}", "text: this is missing"),
        ('{"text": " "}', "text: at least one word is needed"),
        ('{"text": "hi", "txt": 1}', "txt: there is no such field here"),
        (json.dumps({"text": "x" * (LONGEST_MESSAGE + 1)}), "at most 8,000 characters"),
    ],
)
def test_a_websocket_says_what_is_wrong_and_goes_on(client: TestClient, sent: str, told: str):
    talk = begin(client)
    with connect(client, talk) as socket:
        socket.send_text(sent)
        problem = socket.receive_json()
        assert (problem["type"], problem["status"]) == ("error", 422)
        assert told in problem["error"]
        socket.send_bytes(b'{"text": "hello"}')
        assert socket.receive_json()["type"] == "piece"


def test_the_same_request_again_is_answered_the_same_and_stored_once(client: TestClient):
    talk = begin(client)
    first = say(client, talk, "hello", **{"Idempotency-Key": "abc"})
    say(client, talk, "more")
    again = say(client, talk, "hello", **{"Idempotency-Key": "abc"})
    assert again.json() == first.json()
    assert len(client.get(f"/api/conversations/{talk}").json()["turns"]) == 4
    other = say(client, talk, "something else", **{"Idempotency-Key": "abc"})
    assert other.status_code == 409
    assert "used for another message" in other.json()["error"]
    assert len(client.get(f"/api/conversations/{talk}").json()["turns"]) == 4


def test_the_same_request_over_a_websocket_is_stored_once_too(client: TestClient):
    talk = begin(client)
    first = say(client, talk, "hello", **{"Idempotency-Key": "abc"}).json()
    with connect(client, talk) as socket:
        socket.send_json({"text": "hello", "key": "abc"})
        while (message := socket.receive_json())["type"] == "piece":
            pass
    assert message == {"type": "reply", **first}
    assert len(client.get(f"/api/conversations/{talk}").json()["turns"]) == 2


def test_a_request_that_was_taken_back_is_not_stored_again_behind_ones_back(client: TestClient):
    talk = begin(client)
    say(client, talk, "hello", **{"Idempotency-Key": "abc"})
    client.post(f"/api/conversations/{talk}/undo")
    again = say(client, talk, "hello", **{"Idempotency-Key": "abc"})
    assert again.status_code == 409
    assert client.get(f"/api/conversations/{talk}").json()["turns"] == []


def test_beginning_twice_with_one_key_is_beginning_once(client: TestClient):
    first = client.post("/api/conversations", headers={"Idempotency-Key": "k"}).json()["id"]
    assert client.post("/api/conversations", headers={"Idempotency-Key": "k"}).json()["id"] == first
    assert begin(client) != first


def test_messages_sent_at_once_to_one_conversation_are_answered_one_after_the_other(serve):
    client = serve(Echo(delay=0.01))
    talk = begin(client)
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda n: say(client, talk, f"message {n}"), range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["turn"] for answer in answers) == list(range(2, 21, 2))
    turns = client.get(f"/api/conversations/{talk}").json()["turns"]
    for number in range(0, 20, 2):  # every answer follows its own message and saw all that came before
        said = turns[number]["text"]
        assert turns[number + 1]["text"] == f"In {talk}, after {number} turns, you said: {said}"


def test_messages_of_many_conversations_share_batches_and_never_mix(serve):
    listener = Echo(delay=0.02)
    client = serve(listener)
    talks = [begin(client) for _ in range(12)]
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda talk: say(client, talk, f"I am {talk}"), talks))
    for talk, answer in zip(talks, answers, strict=True):
        assert answer.json()["text"] == f"In {talk}, after 0 turns, you said: I am {talk}"
    assert max(listener.batches) > 1


def test_what_is_learned_is_remembered_only_after_the_person_agreed(client: TestClient):
    talk = begin(client)
    say(client, talk, "I am called Mira.")
    (sentence,) = client.get("/api/persona").json()["sentences"]
    assert (sentence["text"], sentence["remembered"]) == ("I am called Mira.", False)
    assert client.get(f"/api/conversations/{begin(client)}").json()["persona"] == []
    refused = client.post("/api/persona", json={"text": "I like tea."})
    assert refused.status_code == 409
    assert "before you agree" in refused.json()["error"]

    assert client.get("/api/consent").json() == {"agreed": False, "asked": False}
    assert client.put("/api/consent", json={"agreed": True}).json() == {"agreed": True, "asked": True}
    assert client.get("/api/consent").json() == {"agreed": True, "asked": True}
    say(client, talk, "hello")
    known = client.get(f"/api/conversations/{begin(client)}").json()["persona"]
    assert [each["text"] for each in known] == ["I am called Mira."]


def test_a_sentence_is_added_edited_and_forgotten(client: TestClient):
    client.put("/api/consent", json={"agreed": True})
    added = client.post("/api/persona", json={"text": "I like tea."})
    assert added.status_code == 201
    name = added.json()["id"]
    edited = client.put(f"/api/persona/{name}", json={"text": "I like green tea."}).json()
    assert (edited["id"], edited["text"], edited["edited"]) == (name, "I like green tea.", True)
    assert client.delete(f"/api/persona/{name}").status_code == 204
    assert client.get("/api/persona").json() == {"sentences": []}
    for answer in (
        client.delete(f"/api/persona/{name}"),
        client.put(f"/api/persona/{name}", json={"text": "x"}),
        client.delete("/api/persona/1"),
    ):
        assert answer.status_code == 404
        assert answer.json() == {"error": "There is no such sentence."}


def test_a_sentence_can_belong_to_one_conversation(client: TestClient):
    talk, other = begin(client), begin(client)
    client.post("/api/persona", params={"conversation": talk}, json={"text": "I like tea."})
    assert len(client.get("/api/persona", params={"conversation": talk}).json()["sentences"]) == 1
    assert client.get("/api/persona", params={"conversation": other}).json()["sentences"] == []
    assert client.get("/api/persona", params={"conversation": "nonsense"}).status_code == 404


def test_everything_is_exported_and_erased(client: TestClient):
    talk = begin(client)
    say(client, talk, "a word to find again")
    exported = client.get("/api/export")
    assert "a word to find again" in exported.text
    assert "attachment" in exported.headers["content-disposition"]
    assert client.post("/api/erase", json={}).status_code == 422
    assert client.post("/api/erase", json={"sure": False}).status_code == 422
    assert client.post("/api/erase", json={"sure": True}).json()["turns"] == 2
    assert "a word to find again" not in client.get("/api/export").text
    assert client.get("/api/conversations").json() == {"conversations": []}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "This is missing."),
        (b"{", "The request is not valid JSON."),
        (b"[]", "dictionary or object"),
        (b'{"text": ""}', "text: at least one word is needed."),
        (b'{"text": "\\n \\t"}', "text: at least one word is needed"),
        (b'{"text": 7}', "text: this must be a text."),
        (b'{"text": "\\ud800"}', "text: this"),
        (b'{"text": "hi", "seed": -1}', "seed: Input should be greater than or equal to 0"),
        (b'{"text": "hi", "screen": false}', "screen: there is no such field here."),
        (json.dumps({"text": "x" * (LONGEST_MESSAGE + 1)}).encode(), "at most 8,000 characters"),
    ],
)
def test_what_cannot_be_answered_is_told_in_one_sentence(client: TestClient, body: bytes, told: str):
    talk = begin(client)
    answer = client.post(
        f"/api/conversations/{talk}/messages", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert list(answer.json()) == ["error"]
    assert told in answer.json()["error"]
    assert client.get(f"/api/conversations/{talk}").json()["turns"] == []


@pytest.mark.parametrize(
    "text",
    ["\x00", "a\x00b", "🫂" * 50, "\u202eright to left", "<script>alert(1)</script>", "x" * LONGEST_MESSAGE],
)
def test_any_words_can_be_said_and_come_back_as_they_were(client: TestClient, text: str):
    talk = begin(client)
    assert say(client, talk, text).status_code == 200
    assert client.get(f"/api/conversations/{talk}").json()["turns"][0]["text"] == text


def test_a_crash_of_the_listener_is_told_without_details_and_nothing_is_stored(client: TestClient):
    talk = begin(client)
    answer = say(client, talk, "crash")
    assert answer.status_code == 500
    assert answer.json() == {"error": "Something went wrong here; it was logged. Please try again."}
    assert client.get(f"/api/conversations/{talk}").json()["turns"] == []
    assert say(client, talk, "hello").json()["turn"] == 2


def test_unknown_paths_and_methods_are_told_in_json(client: TestClient):
    assert client.get("/api/nothing").json() == {"error": "Not Found"}
    assert client.delete("/api/health").status_code == 405
    assert "error" in client.delete("/api/health").json()


def test_health_says_the_version(client: TestClient):
    assert client.get("/api/health").json() == {
        "status": "ok",
        "version": __version__,
        "needs_token": False,
    }


def test_the_description_has_every_route_with_examples_and_names_the_token(client: TestClient):
    described = client.get("/api/openapi.json").json()
    paths = described["paths"]
    for path in ("/api/conversations/{conversation}/messages", "/api/erase", "/v1/chat/completions"):
        assert path in paths
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    message = described["components"]["schemas"]["MessageIn"]["properties"]["text"]
    assert message["examples"]
    assert message["maxLength"] == LONGEST_MESSAGE
    assert (
        "text/event-stream"
        in paths["/api/conversations/{conversation}/messages"]["post"]["responses"]["200"]["content"]
    )
    assert "HTTPValidationError" not in json.dumps(described)
