"""Names, voices and personas of conversations; finding one; taking one along."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from allears.errors import AllearsError
from allears.memory import Memory
from allears.safety.screen import CrisisScreen
from allears.serve.app import create_app
from allears.serve.settings import ServerSettings
from allears.serve.voices import ServedVoice
from echo_listener import Echo
from serving import begin, say


@pytest.fixture
def two_voices(memory: Memory) -> Any:
    """A server with two voices, and the listeners behind them."""
    first, second = Echo(), Echo()
    voices = [ServedVoice("default", first), ServedVoice("other", second, "Another", "Says the same.")]
    app = create_app(voices, memory, ServerSettings(rate=1000, burst=1000))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client, first, second


def change(client: TestClient, talk: str, **choices: Any) -> Any:
    return client.patch(f"/api/conversations/{talk}", json=choices)


def test_a_conversation_is_renamed_and_goes_back_to_its_first_words(client: TestClient):
    talk = begin(client)
    assert change(client, talk, title="  My sister  ").json()["title"] == "My sister"
    assert client.get("/api/conversations").json()["conversations"][0]["title"] == "My sister"
    for nothing in (None, "   "):
        change(client, talk, title="x")
        assert change(client, talk, title=nothing).json()["title"] is None


def test_a_conversation_can_begin_with_its_choices(client: TestClient):
    body = {"title": "Soup", "listener_persona": ["I cook."], "country": "nz", "voice": "default"}
    made = client.post("/api/conversations", json=body)
    assert made.status_code == 201
    shown = made.json()
    assert (shown["title"], shown["listener_persona"], shown["country"]) == ("Soup", ["I cook."], "NZ")
    assert client.get(f"/api/conversations/{shown['id']}").json() == shown


def test_what_is_left_out_stays_as_it_was(client: TestClient):
    talk = begin(client)
    change(client, talk, title="Soup", listener_persona=["I cook."])
    after = change(client, talk, country="GB").json()
    assert (after["title"], after["listener_persona"], after["country"]) == ("Soup", ["I cook."], "GB")
    assert change(client, talk).json() == after


def test_the_listener_sees_the_persona_it_was_given_and_no_longer_when_it_was_taken_away(serve):
    listener = Echo()
    client = serve(listener)
    talk = begin(client)
    change(client, talk, listener_persona=["I cook.", "I like soup."], country="GB")
    say(client, talk, "hello")
    assert listener.seen[-1].personas["supporter"].texts == ("I cook.", "I like soup.")
    assert listener.seen[-1].labels["country"] == "GB"
    assert (
        change(client, talk, country="zz").json()["country"] == "ZZ"
    )  # anywhere else: the international lines
    change(client, talk, listener_persona=[], country=None)
    say(client, talk, "hello again")
    assert "supporter" not in listener.seen[-1].personas
    assert "country" not in listener.seen[-1].labels


def test_the_voice_that_was_chosen_answers(two_voices: Any):
    client, first, second = two_voices
    talk = begin(client)
    assert say(client, talk, "hello").json()["why"]["voice"] == "default"
    assert change(client, talk, voice="other").json()["voice"] == "other"
    assert say(client, talk, "hello").json()["why"]["voice"] == "other"
    assert (len(first.seen), len(second.seen)) == (1, 1)
    assert change(client, talk, voice=None).json()["voice"] == "default"


def test_a_voice_that_is_not_served_any_more_gives_way_to_the_default(two_voices: Any, serve):
    client, _, _ = two_voices
    talk = begin(client)
    change(client, talk, voice="other")
    later = serve()
    assert later.get(f"/api/conversations/{talk}").json()["voice"] == "default"
    assert say(later, talk, "still there?").json()["why"]["voice"] == "default"


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"voice": "nobody"}, "there is no such voice here; there are default"),
        ({"country": "XX"}, "no help lines are listed"),
        ({"title": "x" * 121}, "at most 120 characters"),
        ({"listener_persona": [" "]}, "at least one word"),
        ({"listener_persona": ["x" * 201]}, "at most 200 characters"),
        ({"listener_persona": ["I cook."] * 11}, "at most 10"),
        ({"listener_persona": None}, "list"),
        ({"safety": {}}, "no such field"),
    ],
)
def test_a_choice_that_cannot_be_made_changes_nothing(client: TestClient, choices: dict[str, Any], told: str):
    talk = begin(client)
    before = client.get(f"/api/conversations/{talk}").json()
    answer = change(client, talk, **choices)
    assert answer.status_code == 422
    assert told in answer.json()["error"]
    assert client.get(f"/api/conversations/{talk}").json() == before


def test_undo_does_not_undo_choices(client: TestClient):
    talk = begin(client)
    say(client, talk, "hello")
    change(client, talk, title="Later", listener_persona=["I cook."])
    after = client.post(f"/api/conversations/{talk}/undo").json()
    assert (after["title"], after["listener_persona"], after["turns"]) == ("Later", ["I cook."], [])


def test_two_voices_of_one_name_and_a_voice_without_its_crisis_screen_are_not_served(memory: Memory):
    with pytest.raises(AllearsError, match="same name"):
        create_app([ServedVoice("a", Echo()), ServedVoice("a", Echo())], memory)
    bare = Echo()
    bare.screen = CrisisScreen(None, turn_crisis_screening_off=True)  # type: ignore[attr-defined]
    with pytest.raises(AllearsError, match="must screen for crises"):
        create_app([ServedVoice("a", Echo()), ServedVoice("b", bare)], memory)


def test_conversations_are_found_by_words(client: TestClient):
    tree, sea = begin(client), begin(client)
    say(client, tree, "I planted an Oak.")
    say(client, sea, "We sailed out.")
    change(client, sea, title="الريح والبحر")

    def found(words: str) -> list[str]:
        answer = client.get("/api/conversations", params={"search": words})
        return [each["id"] for each in answer.json()["conversations"]]

    assert found("oak planted") == [tree]
    assert found("البحر") == [sea]
    assert found("%") == found("oak sailed") == []
    assert set(found("")) == {tree, sea}
    match = client.get("/api/conversations?search=oak").json()["conversations"][0]["match"]
    assert match == "I planted an Oak."
    assert client.get("/api/conversations", params={"search": "x" * 201}).status_code == 422


def test_a_conversation_is_exported_to_read_and_to_keep(client: TestClient):
    talk = begin(client)
    say(client, talk, "I am called Mira.")
    say(client, talk, "# no heading\n<script>alert(1)</script> [a](b) 1. \u202eright to left")
    change(client, talk, title="Me & <b>others</b>", listener_persona=["I cook."])
    read = client.get(f"/api/conversations/{talk}/export")
    assert read.headers["content-type"] == "text/markdown; charset=utf-8"
    assert read.headers["content-disposition"] == f'attachment; filename="allears-{talk}.md"'
    assert read.text.startswith("# Me & \\<b>others\\</b>\n")
    assert "**You:** I am called Mira." in read.text
    assert (
        "**You:** \\# no heading  \n\\<script>alert(1)\\</script> \\[a\\](b) 1. \u202eright to left"
        in read.text
    )
    assert "- I am called Mira." in read.text
    assert "I cook." not in read.text  # it is the listener's, and was not noted about the person
    kept = client.get(f"/api/conversations/{talk}/export", params={"format": "json"})
    assert kept.headers["content-type"] == "application/json"
    assert kept.json()["title"] == "Me & <b>others</b>"
    assert kept.json()["turns"][1]["why"]["kind"] == "reply"
    assert "memory_revision" not in kept.text
    assert client.get(f"/api/conversations/{talk}/export?format=pdf").status_code == 422
