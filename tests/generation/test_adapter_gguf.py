"""A trained adapter as GGUF: llama.cpp says with it what torch says, and nothing is lost on the way."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.language_models import load_chat_tokenizer
from allears.runtime.adapter_file import read_adapter
from allears.runtime.adapter_gguf import read_adapter_gguf, write_adapter_gguf
from allears.runtime.generator import Prompt
from allears.runtime.gguf_card import ADAPTER_FILE, GgufVoiceCard
from allears.runtime.gguf_voice import GgufOptions, GgufVoice
from allears.runtime.talk_layout import END, prompt_text, system_text
from allears.runtime.weights import sha256
from allears.training.export.gguf_voice import export_gguf_voice
from allears.training.voice.model import VoiceCard, VoiceModel, build, save
from command_line import Run, run  # noqa: F401
from tiny_gguf import TinyModel, tiny_model

RANK, ALPHA = 4, 12
SAID = (Turn(Role.SEEKER, "my dog ate the sandwich again"),)
HEADS = (4, 2)


@pytest.fixture(scope="module", params=["qwen2", "llama"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return tiny_model(tmp_path_factory.mktemp("adapter"), request.param)


def random_adapter(tiny: TinyModel, folder: Path, *, size: float = 0.15) -> VoiceModel:
    """A run's folder with an adapter that does something; the model with just that adapter in it."""
    torch.manual_seed(1)
    model = build(str(tiny.folder), rank=RANK, alpha=ALPHA, dropout=0.0, half=False).eval()
    with torch.no_grad():
        for value in model.learned().values():
            value.copy_((size * torch.randn_like(value)).half())
    save(folder, model, VoiceCard("tiny", RANK, ALPHA))
    return model


def told_by_torch(
    model: VoiceModel, tiny: TinyModel, text: str, count: int
) -> list[tuple[list[int], torch.Tensor]]:
    """What the voice would write after a text, greedily: at each place what stands before it, and all
    log-probabilities."""
    tokenizer = load_chat_tokenizer(tiny.folder).whole
    ids, found = tokenizer(text, add_special_tokens=False)["input_ids"], []
    with torch.inference_mode():
        for _ in range(count):
            scores = model.base(input_ids=torch.tensor([ids])).logits[0, -1].log_softmax(-1)
            found.append((ids, scores))
            ids = [*ids, int(scores.argmax())]
    return found


def told_by_llama(voice: GgufVoice, before: str | list[int]) -> dict[int, float]:
    """The likeliest next tokens, each with its log-probability."""
    body = {"prompt": before, "max_tokens": 1, "temperature": 0, "logprobs": 8, "ignore_eos": True}
    answer = voice.engine._opened.server.handle_completions(body)
    [place] = answer["choices"][0]["logprobs"]["content"]
    return {each["id"]: each["logprob"] for each in place["top_logprobs"]}


def test_llama_says_with_the_adapter_what_torch_says(tiny: TinyModel, tmp_path: Path):
    model = random_adapter(tiny, tmp_path / "run")
    export_gguf_voice(tmp_path / "run", tmp_path / "voice", str(tiny.file))
    text = prompt_text(SAID, system_text(["i have a dog"]))
    voice = GgufVoice(GgufOptions(tiny.file, tmp_path / "voice" / ADAPTER_FILE, threads=1))
    plain = GgufVoice(GgufOptions(tiny.file, threads=1))
    wanted = told_by_torch(model, tiny, text, 12)
    assert (
        told_by_llama(voice, text).keys() == told_by_llama(voice, wanted[0][0]).keys()
    )  # cut into the same tokens
    for before, scores in wanted:
        found = told_by_llama(voice, before)
        assert len(found) == 8
        assert all(math.isclose(value, float(scores[token]), abs_tol=0.1) for token, value in found.items())
    without = told_by_llama(plain, text)
    assert any(abs(value - float(wanted[0][1][token])) > 1 for token, value in without.items())
    voice.close()
    plain.close()


def test_a_voice_of_ours_reads_its_own_layout(tiny: TinyModel, tmp_path: Path):
    random_adapter(tiny, tmp_path / "run")
    export_gguf_voice(tmp_path / "run", tmp_path / "voice", str(tiny.file))
    voice = GgufVoice(GgufOptions(tiny.file, tmp_path / "voice" / ADAPTER_FILE, threads=1))
    assert voice.ours
    asked = voice._asked(Prompt(SAID, ("i have a dog",), "Question", days_since=3))
    assert asked["prompt"] == prompt_text(SAID, system_text(["i have a dog"], days_since=3), "Question")
    assert END in asked["stop"]
    assert voice.split("[question] What happened?") == ("Question", "What happened?")
    [[found]] = voice.generate([Prompt(SAID, strategy="Question")], Settings(longest=12), seed=2)
    assert found.strategy == "Question"
    assert "<|im_" not in found.text
    voice.close()


def test_the_weights_come_back_as_they_went(tiny: TinyModel, tmp_path: Path):
    random_adapter(tiny, tmp_path / "run")
    learned = read_adapter(tmp_path / "run" / "adapter.safetensors")
    architecture = tiny.folder.name
    write_adapter_gguf(tmp_path / "a.gguf", learned, architecture=architecture, alpha=ALPHA, heads=HEADS)
    found, kind, alpha = read_adapter_gguf(tmp_path / "a.gguf", heads=HEADS)
    assert (kind, alpha) == (architecture, ALPHA)
    assert found.keys() == learned.keys()
    assert all(np.array_equal(found[name], learned[name]) for name in learned)


def test_the_folder_says_what_it_belongs_to(tiny: TinyModel, tmp_path: Path, run: Run):  # noqa: F811
    random_adapter(tiny, tmp_path / "run")
    record = {"recipe": {"data": {"train": ["talks"]}, "training": {"epochs": 3}}, "hardware": "a laptop"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    code, out, err = run("export", tmp_path / "run", "--out", tmp_path / "voice", "--base", tiny.file)
    assert code == 0, err
    assert "voice, float16" in out
    card = GgufVoiceCard.read(tmp_path / "voice" / "voice.json")
    assert card == GgufVoiceCard(tiny.file.name, sha256(tiny.file), RANK, ALPHA)
    assert "CC BY 4.0" in (tmp_path / "voice" / "LICENSE").read_text()
    assert "epochs 3, on a laptop" in (tmp_path / "voice" / "MODEL_CARD.md").read_text()
    assert not list((tmp_path / "voice").glob("*.part"))


def test_what_cannot_be_exported_is_one_sentence(tiny: TinyModel, tmp_path: Path, run: Run):  # noqa: F811
    random_adapter(tiny, tmp_path / "run")
    code, _, err = run("export", tmp_path / "run", "--out", tmp_path / "voice", "--base", "nobody")
    assert code == 2
    assert "no such base; there are qwen-1.5b" in err
    code, _, err = run("export", tmp_path / "run", "--out", tmp_path / "voice", "--precision", "float32")
    assert (code, "exported alone" in err) == (2, True)
    code, _, err = run("export", tmp_path / "run", "--out", tmp_path / "run", "--base", tiny.file)
    assert (code, "the run itself" in err) == (2, True)
    other = tmp_path / "other"
    other.mkdir()
    wide = build(str(tiny.folder), rank=RANK, alpha=ALPHA, dropout=0.0, half=False)
    for value in wide.learned().values():
        value.data = value.data.repeat(2, 1) if value.shape[1] == RANK else value.data
    save(other, wide, VoiceCard("tiny", RANK, ALPHA))
    code, _, err = run("export", other, "--out", tmp_path / "voice", "--base", tiny.file)
    assert (code, "does not fit" in err) == (2, True)


@pytest.mark.parametrize(
    ("architecture", "said"), [("mamba", "cannot be written"), ("llama", "number of heads")]
)
def test_other_architectures_are_refused(architecture: str, said: str, tmp_path: Path):
    learned = {f"model.layers.0.self_attn.q_proj.lora_{side}": np.ones((4, 4)) for side in "AB"}
    with pytest.raises(AllearsError, match=said):
        write_adapter_gguf(tmp_path / "a.gguf", learned, architecture=architecture, alpha=1)
    assert not list(tmp_path.iterdir())


def test_numbers_that_float16_cannot_hold_and_unknown_places_are_refused(tmp_path: Path):
    learned = {"model.layers.0.self_attn.q_proj.lora_A": np.full((2, 2), 1e6)}
    with pytest.raises(AllearsError, match="float16 cannot"):
        write_adapter_gguf(tmp_path / "a.gguf", learned, architecture="qwen2", alpha=1)
    with pytest.raises(AllearsError, match="no place"):
        write_adapter_gguf(
            tmp_path / "a.gguf", {"lm_head.lora_A": np.ones((2, 2))}, architecture="qwen2", alpha=1
        )
