"""A bundle as a base and a change: small, exact enough, and the base's files stay as they are."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from allears.errors import AllearsError
from allears.nn.low_rank import back_to_base, low_rank
from allears.runtime.changed_weights import CHANGE_FILE, changed_weights, numbers_file
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.export.ranker import export
from tiny_models import MODELS, RESPONSES, queries, tiny_selector

EVERYTHING = np.tile(np.arange(len(RESPONSES)), (3, 1))


@pytest.fixture
def base(tmp_path: Path):
    name, options = MODELS["cobert cosine pooled"]
    return tiny_selector(tmp_path / "run", name, **options)


def tuned_from(base, *, rank: int = 2, seed: int = 3):
    """The same model after some training: every linear layer changed by this rank, every vector a little."""
    model = copy.deepcopy(base)
    generator = torch.Generator().manual_seed(seed)
    for module in model.model.encoder.modules():
        if isinstance(module, torch.nn.Linear):
            up = torch.randn(module.out_features, rank, generator=generator)
            down = torch.randn(rank, module.in_features, generator=generator)
            module.weight.data += 0.1 * up @ down / module.in_features**0.5
            module.bias.data += 0.1 * torch.randn(module.out_features, generator=generator)
    return model


def scores(selector):
    return selector.score(queries(), selector.encode_responses(RESPONSES), EVERYTHING)


def test_the_change_is_added_when_the_bundle_is_opened(base, tmp_path):
    tuned = tuned_from(base)
    export(tuned, tmp_path / "bundle", base=base, rank=2)
    export(tuned, tmp_path / "whole")
    whole, changed = (scores(OnnxSelector.from_bundle(tmp_path / name)) for name in ("whole", "bundle"))
    expected = scores(tuned)
    assert np.abs(expected - scores(base)).max() > 0.2 * np.ptp(expected)  # there was something to add
    assert np.abs(changed - expected).max() < 0.1 * np.ptp(expected)
    assert np.abs(changed - expected).max() < 3 * np.abs(whole - expected).max()


def test_files_of_the_base_stay_untouched_and_the_new_ones_are_small(base, tmp_path):
    bundle = tmp_path / "bundle"
    export(base, bundle, largest_file=8192)
    before = {path.name: path.read_bytes() for path in bundle.glob("encoder.onnx.data.*")}
    card = export(tuned_from(base), bundle, base=base, rank=2, largest_file=8192)
    kept = [name for name, content in before.items() if (bundle / name).read_bytes() == content]
    assert len(kept) > len(before) / 2
    assert {*kept, CHANGE_FILE, numbers_file(CHANGE_FILE)} <= set(card.files)
    again = export(tuned_from(base, seed=4), bundle, base=base, rank=2, largest_file=8192)
    assert all((bundle / name).read_bytes() == before[name] for name in kept)
    assert again.fingerprint != card.fingerprint
    OnnxSelector.from_bundle(bundle, verify=True)


def test_matrices_after_the_change_are_those_of_the_tuned_model(base, tmp_path):
    tuned = tuned_from(base)
    export(tuned, tmp_path / "bundle", base=base, rank=2)
    found = changed_weights(tmp_path / "bundle")
    graph = onnx.load(tmp_path / "bundle" / "encoder.onnx").graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    linear = dict(tuned.model.encoder.named_modules())
    assert found
    for name, stored in found.items():
        layer = name.replace("/", ".").removeprefix(".encoder.").removesuffix(".MatMul.int8")
        scales = weights[name.replace(".int8", ".scales")].reshape(*stored.shape[:2], 1)
        weight = ((stored.astype(np.float32) - 128) * scales).reshape(len(stored), -1)
        expected = linear[layer].weight.detach().numpy()
        inside = (
            np.abs(weight[:, : expected.shape[1]] - expected)
            <= 1.05 * np.repeat(scales[..., 0], stored.shape[2], axis=1)[:, : expected.shape[1]]
        )
        assert (
            inside.mean() > 0.97
        )  # half a step of the base and half of the change; some outgrew the largest


def test_a_low_rank_change_is_the_best_of_its_rank():
    change = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    errors = [(change - (c := low_rank(change, rank)).up @ c.down).norm() for rank in (1, 3, 6)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] == pytest.approx(0, abs=1e-4)


def test_layers_that_did_not_change_need_no_change(base):
    model = copy.deepcopy(base.model.encoder)
    assert back_to_base(model, base.model.encoder, 4) == {}


@pytest.mark.parametrize("what", ["other encoder", "float16"])
def test_what_cannot_be_shared_is_refused(base, tmp_path, what):
    if what == "float16":
        with pytest.raises(AllearsError, match="shared in int8"):
            export(tuned_from(base), tmp_path / "bundle", base=base, precision="float16")
    else:
        name, options = MODELS["cobert cosine pooled"]
        other = tiny_selector(tmp_path / "other", name, **options)
        other.model.encoder.settings.num_hidden_layers += 1
        with pytest.raises(AllearsError, match="another encoder"):
            export(tuned_from(base), tmp_path / "bundle", base=other)


def test_a_broken_change_file_is_one_sentence(base, tmp_path):
    export(tuned_from(base), tmp_path / "bundle", base=base, rank=2)
    (tmp_path / "bundle" / CHANGE_FILE).write_text("{}")
    with pytest.raises(AllearsError, match="cannot be read"):
        changed_weights(tmp_path / "bundle")
