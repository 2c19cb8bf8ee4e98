"""Export: the bundle says what is in it, in files of a bounded size, and scores as the model does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from torch.nn import functional

from allears.errors import AllearsError
from allears.models.selection.ranker import Ranker, side_weights
from allears.nn.inputs import Encoded
from allears.runtime import onnx_weights
from allears.runtime.bundle import BundleFile
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.export.ranker import export
from tiny_models import MODELS, RESPONSES, queries, tiny_encoder, tiny_selector

EVERYTHING = np.tile(np.arange(len(RESPONSES)), (3, 1))


@pytest.mark.parametrize("kind", MODELS)
def test_float32_scores_equal_the_torch_models(tmp_path: Path, kind: str):
    name, options = MODELS[kind]
    model = tiny_selector(tmp_path / "run", name, **options)
    export(model, tmp_path / "bundle", precision="float32")
    bundle = OnnxSelector.from_bundle(tmp_path / "bundle", verify=True)
    candidates = model.encode_responses(RESPONSES)
    if candidates.states is not None:  # what a bundle keeps of a candidate, so that only the graphs differ
        candidates = candidates.map(lambda tensor: tensor.half().float() if tensor.dim() == 3 else tensor)
    expected = model.score(queries(), candidates, EVERYTHING)
    found = bundle.score(queries(), bundle.encode_responses(RESPONSES), EVERYTHING)
    assert np.ptp(expected, axis=1).min() > 1e-3  # the candidates do differ
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_smaller_precisions_stay_close(tmp_path: Path, precision: str):
    name, options = MODELS["cobert cosine pooled"]
    model = tiny_selector(tmp_path / "run", name, **options)
    export(model, tmp_path / "bundle", precision=precision)
    bundle = OnnxSelector.from_bundle(tmp_path / "bundle")
    expected = model.score(queries(), model.encode_responses(RESPONSES), EVERYTHING)
    found = bundle.score(queries(), bundle.encode_responses(RESPONSES), EVERYTHING)
    assert not np.array_equal(found, expected)  # the weights were rounded
    assert np.abs(found - expected).max() < {"float16": 0.02, "int8": 0.1}[precision] * np.ptp(expected)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind.startswith("cobert")])
def test_the_ranker_scores_one_query_as_cobert_does(tmp_path: Path, kind: str):
    name, options = MODELS[kind]
    model = tiny_selector(tmp_path, name, **options).model
    ranker, weights = Ranker(model), side_weights(model)
    context, persona = encoded(lengths=[5], seed=1), encoded(lengths=[3], seed=2)
    response = encoded(lengths=[6, 1, 4, 2], seed=3)
    with torch.no_grad():
        expected = model.score(context, persona, response[None])[0]
        found = sum(
            ranker(
                side.states[0],
                side.vector[0],
                torch.tensor(scales),
                response.states,
                response.mask,
                response.vector,
            )
            for side, scales in ((context, weights.context), (persona, weights.persona))
        )
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def encoded(*, lengths: list[int], seed: int) -> Encoded:
    """Random states, padded to the longest, as an encoder might have made them."""
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    states = torch.randn(*mask.shape, 32, generator=torch.Generator().manual_seed(seed))
    return Encoded(vector=functional.normalize(states.sum(1), dim=-1), states=states, mask=mask)


def test_the_card_names_every_file_with_its_checksum(tmp_path: Path):
    model = tiny_selector(tmp_path / "run")
    card = export(model, tmp_path / "bundle", metrics={"recall_at_1": 64.2})
    said = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    files = {path.name for path in (tmp_path / "bundle").iterdir()} - {"bundle.json"}
    assert (
        set(said["files"])
        == files
        == {"tokenizer.json", "encoder.onnx", "encoder.onnx.data.0", "ranker.onnx"}
    )
    for name, facts in said["files"].items():
        assert BundleFile(**facts) == BundleFile.of(tmp_path / "bundle" / name)
    assert said["name"] == "cobert"
    assert said["precision"] == "int8"
    assert said["metrics"] == {"recall_at_1": 64.2}
    assert said["limits"]["persona_sentences"] == 3
    assert said["licence"] == "CC BY-NC 4.0 (trained on non-commercial corpora)"
    assert (
        said["fingerprint"] == card.fingerprint == OnnxSelector.from_bundle(tmp_path / "bundle").fingerprint
    )


def test_a_bi_encoder_has_no_ranker(tmp_path: Path):
    export(tiny_selector(tmp_path / "run", "bi_encoder"), tmp_path / "bundle")
    assert not (tmp_path / "bundle" / "ranker.onnx").exists()


def test_the_fingerprint_changes_with_the_weights_and_with_the_precision(tmp_path: Path):
    first, second = tiny_selector(tmp_path / "a", seed=1), tiny_selector(tmp_path / "b", seed=2)
    prints = [
        export(model, tmp_path / "bundle", precision=precision).fingerprint
        for model, precision in ((first, "int8"), (first, "float32"), (second, "int8"), (first, "int8"))
    ]
    assert len(set(prints)) == 3
    assert prints[0] == prints[3]


@pytest.mark.parametrize("precision", ["int8", "float16", "float32"])
def test_no_file_is_larger_than_allowed_even_where_one_weight_is(tmp_path: Path, precision: str):
    model = tiny_selector(tmp_path / "run", "bi_encoder")
    limit = 3000  # bytes; the larger weights have 8192 in float32
    card = export(model, tmp_path / "small", precision=precision, largest_file=limit)
    export(model, tmp_path / "whole", precision=precision)
    weights = [facts.bytes for name, facts in card.files.items() if ".data." in name]
    assert len(weights) > 3
    assert max(weights) <= limit
    small, whole = (OnnxSelector.from_bundle(tmp_path / name) for name in ("small", "whole"))
    np.testing.assert_array_equal(small.query_vectors(queries()), whole.query_vectors(queries()))


def test_parts_of_the_graph_can_be_left_in_float32(tmp_path: Path):
    model = tiny_selector(tmp_path / "run", "bi_encoder")
    export(model, tmp_path / "bundle", keep_float=["layer.1/"])
    graph = onnx.load(tmp_path / "bundle" / "encoder.onnx", load_external_data=False).graph
    small = [node.name for node in graph.node if node.op_type == "MatMulNBits"]
    assert small
    assert all("layer.0" in name for name in small)


def test_int8_shrinks_large_embedding_tables_and_keeps_their_rows_close():
    table = (
        np.random.default_rng(0).normal(size=(9000, 32)).astype(np.float32) * np.linspace(0, 9, 9000)[:, None]
    )
    table = table.astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["rows"], "lookup")],
        "lookup",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 32])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx_weights.quantize(model)
    assert sum(len(weight.raw_data) for weight in model.graph.initializer) < table.nbytes / 3
    ids = np.array([0, 1, 4500, 8999])
    (rows,) = InferenceSession(model.SerializeToString()).run(None, {"ids": ids})
    np.testing.assert_allclose(rows, table[ids], atol=np.abs(table[ids]).max() / 200)
    assert np.abs(rows[1] - table[1]).max() <= np.abs(table[1]).max() / 250  # small rows have their own scale


def test_a_matrix_whose_rows_fill_no_whole_block_is_quantized_too():
    weight = (
        np.random.default_rng(0).normal(size=(40, 24)).astype(np.float32)
    )  # 40 = 2 blocks of 16 and a half
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"], "product")],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 40])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 24])],
        [numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx_weights.quantize(model)
    assert [node.op_type for node in model.graph.node] == ["MatMulNBits"]
    x = np.random.default_rng(1).normal(size=(5, 40)).astype(np.float32)
    (y,) = InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(y, x @ weight, atol=0.02 * np.abs(x @ weight).max())


def test_another_encoder_family_without_segments_is_exported(tmp_path: Path):
    model = tiny_selector(tmp_path / "run", "bi_encoder")
    model.model.encoder = tiny_encoder(model_type="distilbert", dim=32, n_layers=2, n_heads=2, hidden_dim=64)
    model.model.eval()
    export(model, tmp_path / "bundle", precision="float32")
    bundle = OnnxSelector.from_bundle(tmp_path / "bundle")
    expected = model.score(queries(), model.encode_responses(RESPONSES), EVERYTHING)
    found = bundle.score(queries(), bundle.encode_responses(RESPONSES), EVERYTHING)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_exporting_leaves_the_model_as_it_was(tmp_path: Path):
    model = tiny_selector(tmp_path / "run")
    before = model.score(queries(), model.encode_responses(RESPONSES), EVERYTHING)
    attention = model.model.encoder.model.config._attn_implementation
    export(model, tmp_path / "bundle")
    assert model.model.encoder.model.config._attn_implementation == attention
    np.testing.assert_array_equal(
        model.score(queries(), model.encode_responses(RESPONSES), EVERYTHING), before
    )


def test_a_bundle_is_replaced_as_a_whole(tmp_path: Path):
    model = tiny_selector(tmp_path / "run")
    export(model, tmp_path / "bundle", precision="float32", largest_file=3000)
    export(model, tmp_path / "bundle")
    assert not (tmp_path / "bundle" / "encoder.onnx.data.2").exists()
    OnnxSelector.from_bundle(tmp_path / "bundle", verify=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bundle",
        "run",
    ]  # nothing is left lying about


def test_a_folder_with_something_else_in_it_is_not_overwritten(tmp_path: Path):
    model = tiny_selector(tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "novel.txt").write_text("chapter one")
    with pytest.raises(AllearsError, match=r"mine: exists and is not a bundle"):
        export(model, tmp_path / "mine")
    assert (tmp_path / "mine" / "novel.txt").read_text() == "chapter one"


def test_models_without_a_vector_are_refused(tmp_path: Path):
    with pytest.raises(
        AllearsError, match="a poly_encoder cannot be exported; export a bi_encoder or a cobert"
    ):
        export(tiny_selector(tmp_path / "run", "poly_encoder", codes=2), tmp_path / "bundle")


def test_an_unknown_precision_is_refused(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"unknown precision 'int3'; use one of int8, float16, float32"):
        export(tiny_selector(tmp_path / "run"), tmp_path / "bundle", precision="int3")


def test_a_graph_that_does_not_give_the_models_vectors_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def ruin(model: onnx.ModelProto, *, keep_float: object) -> None:
        for tensor in model.graph.initializer:
            if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) == 2:
                noise = np.random.default_rng(0).normal(size=tuple(tensor.dims)).astype(np.float32)
                tensor.CopyFrom(numpy_helper.from_array(noise, tensor.name))

    monkeypatch.setattr(onnx_weights, "quantize", ruin)
    with pytest.raises(AllearsError, match="does not give the model's vectors"):
        export(tiny_selector(tmp_path / "run"), tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()
