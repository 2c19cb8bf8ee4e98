"""Layers of a reader's own upon an encoder that stays as it is: in training, in a bundle, and what must not change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.nn.further_layers import FurtherLayers
from allears.nn.weights import weights_digest
from allears.runtime.onnx_reader import OnnxReader
from allears.text.layout import Limits
from allears.text.reading import Reading
from allears.training.export.bundle import export_with_reader
from allears.training.understanding.building import (
    HeadOptions,
    ReaderModelOptions,
    build_reader,
    chosen_heads,
)
from tiny_models import tiny_reader, tiny_selector

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
READINGS = [
    Reading((Turn(SEEKER, "my cat is lost"),)),
    Reading((Turn(SEEKER, "so sad, " * 9), Turn(SUPPORTER, "so sorry"), Turn(SEEKER, "the boat is lost?"))),
    Reading((Turn(SEEKER, "great news!"),)),
]
PAIR = Reading((Turn(SEEKER, "my cat is lost"), Turn(SUPPORTER, "So sorry. Tell me")), ("1",), ("So sorry",))


def test_at_first_only_the_norm_does_something():
    layers = FurtherLayers(8, layers=2, heads=2, inner=16).eval()
    states, mask = torch.randn(2, 5, 8), torch.ones(2, 5)
    with torch.inference_mode():
        torch.testing.assert_close(layers(states, mask), layers.norm(states))


def test_padding_changes_nothing():
    torch.manual_seed(0)
    layers = FurtherLayers(8, layers=2, heads=2, inner=16).eval()
    for parameter in layers.parameters():
        parameter.data.normal_(std=0.3)
    states = torch.randn(1, 5, 8)
    padded = torch.cat([states, 9 * torch.randn(1, 3, 8)], 1)
    mask = torch.tensor([[1, 1, 1, 1, 1, 0, 0, 0]])
    with torch.inference_mode():
        alone = layers(states, torch.ones(1, 5))
        torch.testing.assert_close(layers(padded, mask)[:, :5], alone, atol=1e-5, rtol=1e-4)
        assert (alone - states).abs().max() > 0.1  # they do something


def test_heads_must_share_the_width():
    with pytest.raises(ValueError, match="3 heads cannot share a width of 8"):
        FurtherLayers(8, layers=1, heads=3, inner=16)


def test_the_encoder_does_not_learn_and_is_not_shaken_by_dropout(tmp_path: Path):
    reader = tiny_reader(tiny_selector(tmp_path), further=2)
    before = weights_digest(reader.model.encoder)
    reader.model.train()
    assert not any(parameter.requires_grad for parameter in reader.model.encoder.parameters())
    assert not reader.model.encoder.training
    assert reader.model.further is not None
    assert reader.model.further.training
    learned = [value for value in reader.model.parameters() if value.requires_grad]
    optimizer = torch.optim.SGD(learned, lr=0.1)
    states = torch.randn(2, 3, reader.model.encoder.size)
    reader.model.from_states(states, torch.ones(2, 3)).logits["ed-emotion"].sum().backward()
    optimizer.step()
    assert weights_digest(reader.model.encoder) == before


def test_a_plain_head_reads_what_it_would_without_further_layers(tmp_path: Path):
    selector = tiny_selector(tmp_path)
    without, beside = tiny_reader(selector), tiny_reader(selector, further=1, plain=["strategy"])
    beside.model.load_state_dict(without.model.state_dict(), strict=False)
    found, expected = beside.answers(READINGS), without.answers(READINGS)
    np.testing.assert_allclose(found["strategy"], expected["strategy"], atol=1e-6)
    assert np.abs(found["ed-emotion"] - expected["ed-emotion"]).max() > 0.01


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_bundle_answers_as_the_torch_reader(tmp_path: Path, precision: str):
    selector = tiny_selector(tmp_path / "run")
    reader = tiny_reader(selector, further=2, plain=["strategy"])
    export_with_reader(selector, reader, tmp_path / "bundle", precision=precision)
    bundle = OnnxReader.from_bundle(tmp_path / "bundle", verify=True)
    assert bundle.card.further == 2
    allowed = 1e-4 if precision == "float32" else 0.15
    for name, expected in reader.answers(READINGS).items():
        np.testing.assert_allclose(bundle.answers(READINGS)[name], expected, atol=allowed, err_msg=name)
    if precision == "float32":
        assert bundle.rationales("epitome-explorations", PAIR) == reader.rationales(
            "epitome-explorations", PAIR
        )


def test_company_changes_nothing(tmp_path: Path):
    """A listener that reads for many at once must say to everybody what it would say to them alone."""
    selector = tiny_selector(tmp_path / "run")
    export_with_reader(selector, tiny_reader(selector, further=2), tmp_path / "bundle")
    bundle = OnnxReader.from_bundle(tmp_path / "bundle")
    chance = np.random.default_rng(0)
    lengths = (3, 9, 5, 9)
    states = [chance.normal(size=(length, bundle.card.size)).astype(np.float32) for length in lengths]
    together = np.zeros((len(states), max(lengths), bundle.card.size), np.float32)
    mask = np.zeros(together.shape[:2], np.int64)
    for row, each in enumerate(states):
        together[row, : len(each)], mask[row, : len(each)] = each, 1
    found = bundle.from_states(together, mask)
    for row, each in enumerate(states):
        alone = bundle.from_states(each[None], np.ones((1, len(each)), np.int64))
        for name, chances in alone.items():
            assert np.array_equal(found[name][row], chances[0]), name


def test_a_recipe_that_freezes_what_must_learn_is_one_sentence(tmp_path: Path):
    heads = HeadOptions(names=("ed-emotion", "strategy"), plain=("strategy",))
    with pytest.raises(AllearsError, match=r"ed-emotion reads model\.further layers, which learn with it"):
        chosen_heads(heads, ReaderModelOptions(further=1, frozen=True))
    only = HeadOptions(names=("ed-emotion", "strategy"), plain=("strategy",), learned=("strategy",))
    assert chosen_heads(only, ReaderModelOptions(further=1, frozen=True)) == [
        head("ed-emotion"),
        head("strategy"),
    ]
    with pytest.raises(AllearsError, match=r"leave model\.rank out"):
        build_reader(ReaderModelOptions(further=1, rank=4), Limits(), [head("strategy")])
