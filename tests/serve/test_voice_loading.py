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
    """What names come out as: a bundle without a voice answers with its pool."""
    names = {"default": "retrieval"}

    def named(name: str) -> str:
        return names.get(name, name.rpartition("/")[2])

    def from_bundle(bundle: str, *, voice: str, **_: Any) -> Speaking:
        return Speaking(named(voice))

    monkeypatch.setattr(listeners.Listener, "from_bundle", from_bundle)
    monkeypatch.setattr(voices, "open_voice", lambda name, *_, **__: voices.Voice(named(name)))
    return names


def test_without_a_name_the_bundle_answers(opened: dict[str, str]):
    (voice,) = shipped_voices()
    assert (voice.name, voice.responder.voice) == ("default", "retrieval")  # type: ignore[attr-defined]
    assert voice.description == voices.DESCRIPTIONS["retrieval"]  # what it is, not what it is called
    assert not voice.leaves_machine


def test_a_bundle_that_writes_can_be_compared_with_one_that_only_chooses(opened: dict[str, str]):
    opened["default"] = "default"
    assert [(voice.name, voice.title) for voice in shipped_voices()] == [
        ("default", voices.TITLES["default"]),
        ("retrieval", voices.TITLES["retrieval"]),
    ]


def test_the_first_that_is_named_is_the_default_and_a_run_goes_by_its_folder(opened: dict[str, str]):
    found = shipped_voices(voices=["retrieval", "runs/pal", "remote"])
    assert [voice.name for voice in found] == ["retrieval", "pal", "remote"]
    assert "pal" in found[1].description
    assert [voice.leaves_machine for voice in found] == [False, False, True]


def test_a_voice_that_does_not_exist_is_one_sentence():
    with pytest.raises(AllearsError, match="there is no voice 'nobody'"):
        voices.open_voice("nobody")
