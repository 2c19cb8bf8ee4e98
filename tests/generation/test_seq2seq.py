"""Generators on a pretrained encoder-decoder: a small made-up Blenderbot, as its hub would hold it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from generator_models import LIMITS, dataset_for, talks, write_support_corpora

from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, Settings
from allears.errors import AllearsError
from allears.models.generation import saved
from allears.models.generation.torch_generator import TorchGenerator
from allears.runtime.generator import STRATEGIES
from allears.training.generation.task import GenerationModelOptions, GenerationTask, build_generator
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task

LIMITS = replace(LIMITS, context_tokens=120, turn_tokens=60, response_tokens=60, persona_sentence_tokens=25)
RECIPE = Path(__file__).parents[2] / "recipes" / "esconv-pal.toml"


@pytest.fixture(scope="module")
def blenderbot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of `facebook/blenderbot_small-90M`'s architecture and files, with fresh weights."""
    from transformers import (
        BlenderbotSmallConfig,
        BlenderbotSmallForConditionalGeneration,
        BlenderbotSmallTokenizer,
    )

    folder = tmp_path_factory.mktemp("blenderbot")
    marks = [*"abcdefghijklmnopqrstuvwxyz0123456789.,?!:[]'"]
    pieces = ["__null__", "__start__", "__end__", "__unk__", *marks, *(f"{mark}@@" for mark in marks)]
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = BlenderbotSmallTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BlenderbotSmallConfig(
        vocab_size=len(pieces), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=128,
        dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, init_std=0.2,
    )  # fmt: skip
    BlenderbotSmallForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(params=["pal", "joint", "hard_prompt"])
def generator(request, blenderbot) -> TorchGenerator:
    torch.manual_seed(1)
    model, card, tokenizer = build_generator(
        GenerationModelOptions(name=request.param, pretrained=str(blenderbot)), LIMITS
    )
    return TorchGenerator(model, card, tokenizer)


def free(count: int):
    return [replace(example.prompt, strategy=None) for example in talks(count)]


def test_it_gets_eight_strategies_beside_its_words(generator):
    decoder = generator.model.decoder
    assert list(decoder.strategy_tokens) == list(STRATEGIES)
    assert min(decoder.strategy_tokens.values()) >= generator.tokenizer.size
    assert decoder.model.get_input_embeddings().weight.shape[0] == decoder.first_strategy + 8


def test_cached_steps_are_the_whole_at_once(generator):
    batch = dataset_for(generator, talks(3)).batch(range(3))
    model, decoder = generator.module.eval(), generator.model.decoder
    with torch.inference_mode():
        table = decoder.table(model.encoder)
        memory = model.read(batch.context, batch.persona)
        whole, _ = decoder.likelihood(batch.targets, memory, table)
        state, tokens = decoder.begin(memory, table), torch.full((3,), decoder.start)
        for place, column in enumerate(batch.targets.unbind(1)):
            likely, state = decoder.step(tokens, state, table)
            expected = likely.gather(1, column[:, None])[:, 0]
            torch.testing.assert_close(whole[:, place], expected, atol=1e-4, rtol=1e-4)
            tokens = column


def test_without_persona_it_is_the_pretrained_model_itself(generator, blenderbot):
    from transformers import AutoModelForSeq2SeqLM

    original = AutoModelForSeq2SeqLM.from_pretrained(blenderbot).eval()
    batch = dataset_for(generator, [replace(talks(1)[0], prompt=free(1)[0])]).batch([0])
    model, decoder = generator.module.eval(), generator.model.decoder
    with torch.inference_mode():
        ours, _ = decoder.step(
            torch.tensor([decoder.start]),
            decoder.begin(model.read(batch.context), torch.empty(0)),
            torch.empty(0),
        )
        theirs = original(
            input_ids=batch.context.ids,
            attention_mask=batch.context.mask,
            decoder_input_ids=torch.tensor([[decoder.start]]),
        ).logits[:, -1]
    words = ours[:, : decoder.first_strategy].log_softmax(-1)
    torch.testing.assert_close(words, theirs.log_softmax(-1), atol=1e-4, rtol=1e-4)


def test_mates_change_nothing_and_count_is_heard(generator):
    prompts = free(4)
    together = generator.generate(prompts, PAL_SETTINGS, [5, 6, 7, 8], count=2)
    for place, prompt in enumerate(prompts):
        alone = generator.generate([prompt], PAL_SETTINGS, [5 + place], count=2)[0]
        assert [each.text for each in alone] == [each.text for each in together[place]]


def test_a_saved_one_writes_the_same(generator, tmp_path):
    saved.save(tmp_path, generator.module, generator.card, generator.tokenizer)
    again = saved.load(tmp_path)
    alphas = None if generator.has_branches else PAL_ALPHAS.all(0)
    settings = Settings(method="greedy", longest=20)
    assert again.generate(free(3), settings, alphas=alphas) == generator.generate(
        free(3), settings, alphas=alphas
    )
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(AllearsError, match="missing, corrupt or of another model"):
        saved.load(tmp_path)


@pytest.fixture
def recipe(tmp_path: Path, blenderbot: Path) -> Callable[..., Recipe]:
    write_support_corpora(tmp_path / "data", talks=8)
    small = (
        f'data.root="{tmp_path / "data"}"', "data.sample=2", "model.start=", f'model.pretrained="{blenderbot}"',
        "limits.context_tokens=100", "limits.response_tokens=40", "limits.persona_sentences=2",
        "training.batch=8", "training.epochs=3", "training.learning_rate=5e-3", "training.head_learning_rate=5e-3",
    )  # fmt: skip
    return lambda *changes: read_recipe(RECIPE, [*small, *changes])


def test_it_is_trained_and_goes_on_from_a_run(recipe, tmp_path):
    wanted = recipe()
    task = make_task(wanted, tmp_path / "run")
    assert isinstance(task, GenerationTask)
    before = task.evaluate(torch.device("cpu"))
    after = train(task, wanted, tmp_path / "run")
    assert after["ppl"] < 0.5 * before["ppl"]
    second = make_task(recipe("model.pretrained=", f'model.start="{tmp_path / "run"}"'), tmp_path)
    assert second.evaluate(torch.device("cpu"))["ppl"] == pytest.approx(after["ppl"], rel=1e-4)


def test_a_name_that_cannot_be_loaded_is_one_sentence(tmp_path):
    with pytest.raises(
        AllearsError, match=r"the encoder-decoder .* cannot be loaded; give a hub name such as"
    ):
        build_generator(GenerationModelOptions(pretrained=str(tmp_path / "nowhere")), LIMITS)


def test_a_longer_prompt_than_it_reads_is_one_sentence(blenderbot):
    with pytest.raises(AllearsError, match="asks for 200 tokens at once, but the encoder reads at most 128"):
        build_generator(
            GenerationModelOptions(pretrained=str(blenderbot)), replace(LIMITS, context_tokens=200)
        )
