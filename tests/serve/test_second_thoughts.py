"""Saying it differently, asking for another reply, taking back, stopping."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from echo_listener import Echo
from serving import begin, say


def post(client: TestClient, talk: str, path: str = "messages", key: str | None = None, **body: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"/api/conversations/{talk}/{path}", json=body, headers=headers)


def stop(client: TestClient, talk: str, key: str | None) -> Any:
    return client.post(f"/api/conversations/{talk}/stop", json={"key": key})


def spoken(client: TestClient, talk: str) -> list[str]:
    return [turn["text"] for turn in client.get(f"/api/conversations/{talk}").json()["turns"][::2]]


@pytest.fixture
def talk(client: TestClient) -> str:
    """A conversation of three messages."""
    name = begin(client)
    for text in ("one", "I am called Mira.", "three"):
        say(client, name, text)
    return name


def test_an_earlier_message_is_edited_and_what_followed_is_gone(client: TestClient, talk: str):
    answer = post(client, talk, text="two, said better", replaces=3)
    assert answer.status_code == 200
    assert answer.json()["turn"] == 4
    assert answer.json()["text"] == f"In {talk}, after 2 turns, you said: two, said better"
    assert spoken(client, talk) == ["one", "two, said better"]
    assert client.get("/api/persona").json() == {"sentences": []}  # what it told is unlearned


def test_a_reply_is_asked_for_again_with_another_strategy(client: TestClient, talk: str):
    answer = post(client, talk, text="three", replaces=5, strategy="Information", seed=3)
    assert (answer.json()["turn"], answer.json()["why"]["wished"]) == (6, "Information")
    assert answer.json()["why"]["seed"] == 3
    assert spoken(client, talk) == ["one", "I am called Mira.", "three"]


def test_a_strategy_that_does_not_exist_is_told(client: TestClient, talk: str):
    answer = post(client, talk, text="four", strategy="Shouting")
    assert answer.status_code == 422
    assert "there is no such strategy; there are Question" in answer.json()["error"]


@pytest.mark.parametrize("turn", [2, 7, 2**31 - 1])
def test_only_ones_own_messages_can_be_said_differently(client: TestClient, talk: str, turn: int):
    answer = post(client, talk, text="other", replaces=turn)
    assert answer.status_code == 409
    assert answer.json() == {"error": f"Turn {turn} is no message of yours."}
    assert len(spoken(client, talk)) == 3
    assert post(client, talk, text="other", replaces=0).status_code == 422


def test_if_the_new_words_cannot_be_answered_the_old_ones_stay(client: TestClient, talk: str):
    assert post(client, talk, text="crash", replaces=1).status_code == 500
    assert spoken(client, talk) == ["one", "I am called Mira.", "three"]
    assert len(client.get("/api/persona").json()["sentences"]) == 1


def test_an_edit_that_is_sent_twice_happens_once(client: TestClient, talk: str):
    first = post(client, talk, key="k", text="other", replaces=3)
    say(client, talk, "four")
    again = post(client, talk, key="k", text="other", replaces=3)
    assert again.json() == first.json()
    assert spoken(client, talk) == ["one", "other", "four"]


def test_an_edit_can_come_word_by_word(client: TestClient, talk: str):
    answer = post(client, talk, "messages/stream", text="other", replaces=1)
    assert "event: reply" in answer.text
    assert spoken(client, talk) == ["other"]


def test_undo_goes_back_to_any_message(client: TestClient, talk: str):
    after = post(client, talk, "undo", turn=3).json()
    assert [turn["text"] for turn in after["turns"]][::2] == ["one"]
    refused = post(client, talk, "undo", turn=2)
    assert refused.status_code == 409
    assert "turn 2 is no message of yours" in refused.json()["error"]


# --- stopping


Slow = tuple[TestClient, Echo]


@pytest.fixture
def slow(serve: Callable[..., TestClient]) -> Slow:
    """A server whose listener takes its time, and the listener."""
    listener = Echo(delay=1.0)
    return serve(listener), listener


def under_way(slow: Slow, talk: str, threads: ThreadPoolExecutor, **body: Any) -> Future[Any]:
    """A message that the listener has begun to answer."""
    client, listener = slow
    before = len(listener.batches)
    answer = threads.submit(post, client, talk, key="k", **body)
    end = time.monotonic() + 20
    while len(listener.batches) == before and time.monotonic() < end:
        time.sleep(0.01)
    return answer


@pytest.mark.parametrize("key", ["k", None])
def test_a_reply_that_is_under_way_is_stopped_and_nothing_is_stored(slow: Slow, key: str | None):
    talk = begin(slow[0])
    with ThreadPoolExecutor(1) as threads:
        answer = under_way(slow, talk, threads, text="hello")
        assert stop(slow[0], talk, key).json() == {"stopped": True}
        assert answer.result().status_code == 409
        assert "You stopped this reply" in answer.result().json()["error"]
    assert spoken(slow[0], talk) == []
    assert post(slow[0], talk, text="hello again").json()["turn"] == 2


def test_a_stopped_edit_leaves_everything_as_it_was(slow: Slow):
    talk = begin(slow[0])
    say(slow[0], talk, "one")
    with ThreadPoolExecutor(1) as threads:
        answer = under_way(slow, talk, threads, text="other", replaces=1)
        assert stop(slow[0], talk, "k").json() == {"stopped": True}
        assert answer.result().status_code == 409
    assert spoken(slow[0], talk) == ["one"]


def test_a_reply_that_was_just_stored_is_taken_back(client: TestClient, talk: str):
    post(client, talk, key="k", text="four")
    assert stop(client, talk, "k").json() == {"stopped": True}
    assert spoken(client, talk) == ["one", "I am called Mira.", "three"]
    assert stop(client, talk, "k").json() == {"stopped": False}
    late = post(client, talk, key="k", text="four")  # the same request, arriving once more
    assert late.status_code == 409
    assert "taken back" in late.json()["error"]


def test_what_more_was_said_after_is_not_stopped(client: TestClient, talk: str):
    post(client, talk, key="k", text="four")
    say(client, talk, "five")
    assert stop(client, talk, "k").json() == {"stopped": False}
    assert spoken(client, talk)[-2:] == ["four", "five"]


def test_there_may_be_nothing_to_stop(client: TestClient):
    talk = begin(client)
    assert client.post(f"/api/conversations/{talk}/stop").json() == {"stopped": False}
    assert stop(client, talk, "never sent").json() == {"stopped": False}


def test_another_key_does_not_stop_what_is_under_way(slow: Slow):
    talk = begin(slow[0])
    with ThreadPoolExecutor(1) as threads:
        answer = under_way(slow, talk, threads, text="hello")
        assert stop(slow[0], talk, "another").json() == {"stopped": False}
        assert answer.result().status_code == 200
    assert spoken(slow[0], talk) == ["hello"]
