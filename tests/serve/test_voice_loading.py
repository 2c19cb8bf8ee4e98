"""Which voices a server opens, and what it tells people about them."""

from __future__ import annotations

from typing import Any

import pytest

from allears.errors import AllearsError
from allears.listener import listener as listeners
from allears.listener import voices
from allears.serve.loading import shipped_voices
from echo_listener import Echo


class Speaking(Echo):
    """A listener with a voice, without a model."""

    selector = None

    def __init__(self, voice: str) -> None:
        super().__init__()
        self.voice = voice

    def with_voice(self, voice: voices.Voice) -> Speaking:
        return Speaking(voice.name)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What names come out as: where the weights of the default voice are not here, replies are chosen."""
    names = {"default": "chosen"}

    def named(name: str) -> str:
        return names.get(name, name.rpartition("/")[2])

    def from_bundle(bundle: str, *, voice: str, **_: Any) -> Speaking:
        return Speaking(named(voice))

    monkeypatch.setattr(listeners.Listener, "from_bundle", from_bundle)
    monkeypatch.setattr(voices, "open_voice", lambda name: voices.Voice(named(name)))
    return names


def test_without_a_name_the_default_voice_answers_or_who_stands_in_for_it(opened: dict[str, str]):
    (voice,) = shipped_voices()
    assert (voice.name, voice.responder.voice) == ("default", "chosen")  # type: ignore[attr-defined]
    assert voice.description == voices.DESCRIPTIONS["chosen"]  # what it is, not what it is called
    assert not voice.leaves_machine


def test_a_voice_that_writes_can_be_compared_with_one_that_only_chooses(opened: dict[str, str]):
    opened["default"] = "default"
    assert [(voice.name, voice.title) for voice in shipped_voices()] == [
        ("default", voices.TITLES["default"]),
        ("chosen", voices.TITLES["chosen"]),
    ]


def test_the_first_that_is_named_is_the_default_and_a_run_goes_by_its_folder(opened: dict[str, str]):
    found = shipped_voices(voices=["chosen", "runs/pal", "remote"])
    assert [voice.name for voice in found] == ["chosen", "pal", "remote"]
    assert "pal" in found[1].description
    assert [voice.leaves_machine for voice in found] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "called", "leaves"),
    [
        ("ollama:llama3.2:3b", "llama3.2:3b", False),
        ("openai:http://localhost:8000/v1#mine", "mine", False),
        ("openai:https://models.example.org/v1#theirs", "theirs", True),
        ("openai:http://[half/v1#broken", "broken", True),
        ("hf:some/model", "some/model", False),
        ("/models/own.gguf", "own.gguf", False),
    ],
)
def test_a_model_of_yours_goes_by_its_name_and_says_where_words_go(
    opened: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str, called: str, leaves: bool
):
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    (voice,) = shipped_voices(voices=[name])
    assert (voice.name, voice.title, voice.leaves_machine) == (called, called, leaves)
    assert ("What you say is sent there" in voice.description) == leaves
    assert "http" not in voice.description  # whoever talks here need not know the address


def test_an_ollama_on_another_machine_is_told(opened: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OLLAMA_HOST", "10.0.0.7:11434")
    (voice,) = shipped_voices(voices=["ollama:llama3.2"])
    assert voice.leaves_machine


def test_a_voice_that_does_not_exist_is_one_sentence():
    with pytest.raises(AllearsError, match="there is no voice 'nobody'"):
        voices.open_voice("nobody")
