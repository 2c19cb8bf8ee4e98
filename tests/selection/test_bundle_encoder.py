"""The encoder of a bundle, taken back into torch: what it computes with, and what may be trained on it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.errors import AllearsError
from allears.nn.bundle_encoder import bundle_encoder
from allears.nn.encoder import encoder_tokenizer
from allears.nn.inputs import Inputs
from allears.nn.pretrained import load_encoder
from allears.nn.weights import weights_digest
from allears.runtime.bundle import CARD_FILE
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.text.layout import pad_flat
from allears.training.export.bundle import add_reader
from allears.training.export.ranker import export
from tiny_models import tiny_reader, tiny_selector


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    export(tiny_selector(tmp_path / "run"), tmp_path / "bundle", largest_file=4096)
    return tmp_path / "bundle"


def test_it_says_what_the_bundles_graph_says(bundle: Path):
    encoder, tokenizer = load_encoder(bundle).eval(), encoder_tokenizer(bundle)
    rows = [
        [tokenizer.start, *ids, tokenizer.end] for ids in tokenizer.encode_many(["my cat is lost", "sad"])
    ]
    tokens = pad_flat([(ids, [0] * len(ids)) for ids in rows], tokenizer.pad)
    with torch.inference_mode():
        states = encoder(Inputs.from_tokens(tokens)).numpy()
    given = OnnxSelector.from_bundle(bundle).encoder.run(tokens.ids, tokens.mask, tokens.segments).states
    real = tokens.mask.astype(bool)
    assert np.abs(states[real] - given[real]).max() < 0.05 * np.abs(given[real]).max()


def test_weights_are_the_runs_but_for_rounding(bundle: Path, tmp_path: Path):
    found = bundle_encoder(bundle).state_dict()
    for name, weight in tiny_selector(tmp_path / "run").model.encoder.state_dict().items():
        assert (found[name] - weight).abs().max() <= weight.abs().max() / 100, name


def test_what_is_trained_on_it_can_be_added_to_the_bundle(bundle: Path, tmp_path: Path):
    selector = tiny_selector(tmp_path / "run")
    selector.model.encoder = bundle_encoder(bundle)
    reader = tiny_reader(selector)
    before = weights_digest(selector.model.encoder)
    add_reader(bundle, reader)
    assert weights_digest(bundle_encoder(bundle)) == before
    assert set(OnnxReader.from_bundle(bundle, verify=True).card.heads) == set(reader.card.heads)


def test_what_is_trained_on_another_encoder_is_refused(bundle: Path, tmp_path: Path):
    other = tiny_selector(tmp_path / "other", seed=5)
    with pytest.raises(AllearsError, match="the reader's encoder has other weights than that of"):
        add_reader(bundle, tiny_reader(other))


def test_the_shipped_bundle_can_be_trained_on():
    encoder = load_encoder("default")
    assert (encoder.size, encoder.depth) == (384, 12)
    assert encoder_tokenizer("default").size == 30522


def test_a_bundle_in_float_is_refused_in_one_sentence(tmp_path: Path):
    export(tiny_selector(tmp_path / "run"), tmp_path / "bundle", precision="float32")
    with pytest.raises(AllearsError, match="only an int8 bundle can be trained on; name the run"):
        bundle_encoder(tmp_path / "bundle")


def test_a_bundle_that_does_not_say_its_encoders_shape_is_refused_in_one_sentence(bundle: Path):
    card = json.loads((bundle / CARD_FILE).read_text())
    del card["encoder"]
    (bundle / CARD_FILE).write_text(json.dumps(card))
    with pytest.raises(AllearsError, match="does not say what shape its encoder has"):
        bundle_encoder(bundle)


def test_a_bundle_that_says_another_shape_is_refused_in_one_sentence(bundle: Path):
    card = json.loads((bundle / CARD_FILE).read_text())
    card["encoder"]["max_position_embeddings"] += 1
    (bundle / CARD_FILE).write_text(json.dumps(card))
    with pytest.raises(AllearsError, match=r"has no weight model\.embeddings\.position_embeddings\.weight"):
        bundle_encoder(bundle)
