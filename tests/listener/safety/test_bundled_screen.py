"""A screen of its own in a bundle: it says what its run says, shares the encoder's files, and the listener asks it."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.listener.listener import Listener
from allears.models.reader.saved import ReaderCard, TorchReader, build
from allears.models.selection.saved import TorchSelector
from allears.nn.encoder import Encoder
from allears.nn.low_rank import LowRankAddition, plain_weights, train_at_rank
from allears.nn.stored_matrices import begin_as_stored, in_float, layer_of
from allears.runtime.bundle import BundleCard
from allears.runtime.changed_weights import changed_weights
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.opened_bundle import Bundle
from allears.runtime.reader_card import BundledReaderCard
from allears.safety.bundled_screen import SCREEN_CARD_FILE, SCREEN_FILE, SCREEN_HEADS, OnnxScreen, has_screen
from allears.safety.dangers import HEAD
from allears.safety.screen import CrisisScreen
from allears.text.layout import Limits
from allears.text.reading import Reading
from allears.training.export.own_encoder import add_own_encoder
from allears.training.export.ranker import export
from allears.training.export.screen import SCREEN, add_screen
from allears.training.understanding.bundled_start import load_screen
from tiny_models import queries, tiny_encoder, tiny_selector

SAID = ["my cat is lost", "great news!", "so sad, so sad", "the boat is lost? tell me"]
READINGS = [Reading((Turn(Role.SEEKER, text),)) for text in SAID]


def tuned_reader(selector: TorchSelector, *, layers: int = 1, seed: int = 5) -> TorchReader:
    """The first layers of the selector's encoder after some training on danger, every matrix changed by rank 2."""
    encoder = selector.model.encoder.first_layers(layers)  # type: ignore[union-attr,operator]
    generator = torch.Generator().manual_seed(seed)
    for module in encoder.modules():
        if isinstance(module, torch.nn.Linear):
            up = torch.randn(module.out_features, 2, generator=generator)
            down = torch.randn(2, module.in_features, generator=generator)
            module.weight.data += 0.1 * up @ down / module.in_features**0.5
            module.bias.data += 0.1 * torch.randn(module.out_features, generator=generator)
    return reader_on(encoder, selector, seed=seed)


def reader_on(encoder: Encoder, selector: TorchSelector, *, seed: int = 5) -> TorchReader:
    heads = {name: head(name).labels for name in SCREEN_HEADS}
    temperatures = dict(zip(SCREEN_HEADS, (0.8, 1.0, 1.5), strict=True))
    card = ReaderCard(heads, Limits(context_tokens=40), encoder.config, {}, temperatures=temperatures)
    torch.manual_seed(seed)
    model = build(card, encoder)
    for name in SCREEN_HEADS:
        model.heads[name][-1].weight.data *= 4  # type: ignore[index,union-attr]
    return TorchReader(model, card, selector.tokenizer)  # type: ignore[arg-type]


def plain(encoder: Encoder) -> Encoder:
    """As it is when its run was saved and loaded."""
    found = Encoder.from_config(encoder.config)
    found.load_state_dict(plain_weights(encoder))
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TorchSelector:
    return tiny_selector(tmp_path_factory.mktemp("run"), similarity="cosine", pooled=True)


@pytest.fixture
def bundle(run: TorchSelector, tmp_path: Path) -> Path:
    export(run, tmp_path / "bundle")
    return tmp_path / "bundle"


def test_the_exported_screen_says_what_the_run_says(run: TorchSelector, bundle: Path):
    reader = tuned_reader(run)
    add_screen(bundle, reader)
    expected, found = reader.answers(READINGS), OnnxScreen.from_bundle(bundle).answers(READINGS)
    assert tuple(found) == SCREEN_HEADS
    for name in SCREEN_HEADS:
        assert found[name].shape == (len(READINGS), len(head(name).labels))
        assert np.ptp(expected[name], axis=0).max() > 0.05  # the messages do differ
        np.testing.assert_allclose(found[name], expected[name], atol=0.03)


def test_a_bundles_screen_is_taken_back_into_torch_and_goes_on(run: TorchSelector, bundle: Path):
    add_screen(bundle, tuned_reader(run))
    again, shipped = load_screen(bundle), OnnxScreen.from_bundle(bundle)
    assert again.card.heads == shipped.card.heads
    expected, found = shipped.answers(READINGS), again.answers(READINGS)
    for name in SCREEN_HEADS:
        np.testing.assert_allclose(found[name], expected[name], atol=0.03)


def test_a_bundle_without_a_screen_cannot_go_on(bundle: Path):
    with pytest.raises(AllearsError, match="carries no screen"):
        load_screen(bundle)


def test_it_comes_upon_the_encoders_own_change(run: TorchSelector, tmp_path: Path):
    tuned = copy.deepcopy(run)
    for module in tuned.model.encoder.modules():  # type: ignore[union-attr]
        if isinstance(module, torch.nn.Linear):
            up, down = torch.randn(module.out_features), torch.randn(module.in_features)
            module.weight.data += 0.1 * torch.outer(up, down) / module.in_features**0.5
    export(tuned, tmp_path / "bundle", base=run, rank=1)
    reader = tuned_reader(tuned)
    add_screen(tmp_path / "bundle", reader)
    found = OnnxScreen.from_bundle(tmp_path / "bundle").answers(READINGS)[HEAD]
    np.testing.assert_allclose(found, reader.answers(READINGS)[HEAD], atol=0.06)


def test_what_was_learned_at_the_rank_is_stored_without_a_loss(run: TorchSelector, tmp_path: Path):
    tuned = copy.deepcopy(run)  # the bundle has a change of its own, cut to a lower rank than it had
    for module in tuned.model.encoder.modules():  # type: ignore[union-attr]
        if isinstance(module, torch.nn.Linear):
            module.weight.data += 0.05 * torch.randn_like(module.weight) * module.weight.std()
    export(tuned, tmp_path / "bundle", base=run, rank=1)
    encoder = tuned.model.encoder.first_layers(1)  # type: ignore[union-attr,operator]
    begin_as_stored(encoder, tmp_path / "bundle")
    train_at_rank(encoder, 2)
    generator = torch.Generator().manual_seed(4)
    for module in encoder.modules():
        if isinstance(module, LowRankAddition):
            module.up.data += 0.05 * torch.randn(module.up.shape, generator=generator)
    reader = reader_on(plain(encoder), tuned)
    add_own_encoder(tmp_path / "bundle", reader, SCREEN, rank=2)
    stored = changed_weights(tmp_path / "bundle", "screen.change.json")
    graph = onnx.load(tmp_path / "bundle" / "encoder.onnx").graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    layers = dict(reader.model.encoder.named_modules())
    compared = 0
    for node in graph.node:
        if node.op_type == "MatMulNBits" and node.input[1] in stored:
            steps, whole = weights[node.input[2]], stored[node.input[1]]
            layer = layers[layer_of(node)]
            off = np.abs(in_float(whole, steps)[:, : layer.in_features] - layer.weight.detach().numpy())
            inside = ((whole > 0) & (whole < 255)).reshape(len(whole), -1)[:, : layer.in_features]
            assert inside.mean() > 0.9  # the base's steps reach far enough
            assert off[inside].max() < 0.55 * steps.max()  # rounded to the nearest step, and nothing else
            compared += 1
    assert compared == 6
    found = OnnxScreen.from_bundle(tmp_path / "bundle").answers(READINGS)[HEAD]
    np.testing.assert_allclose(found, reader.answers(READINGS)[HEAD], atol=0.03)


def test_the_ranker_of_the_bundle_is_the_same_as_before(run: TorchSelector, bundle: Path):
    before = BundleCard.read(bundle)
    vectors = OnnxSelector.from_bundle(bundle).query_vectors(queries())
    after = add_screen(bundle, tuned_reader(run))
    assert after.fingerprint == before.fingerprint
    assert before.files.items() <= after.files.items()
    opened = OnnxSelector.from_bundle(bundle, verify=True)
    np.testing.assert_array_equal(opened.query_vectors(queries()), vectors)


def test_the_tables_of_the_encoder_are_stored_once(run: TorchSelector, bundle: Path):
    card = add_own_encoder(bundle, tuned_reader(run), SCREEN, rank=1)
    largest = max(facts.bytes for name, facts in card.files.items() if name.startswith("encoder.onnx.data"))
    own = card.files.get("screen.onnx.data.0")
    assert own is None or own.bytes < largest / 4


def test_a_screen_that_was_there_is_replaced(run: TorchSelector, bundle: Path):
    first = add_screen(bundle, tuned_reader(run, layers=2))
    second = add_screen(bundle, tuned_reader(run, layers=1, seed=6))
    assert first.files["screen.change"] != second.files["screen.change"]
    assert {path.name for path in bundle.iterdir()} == {*second.files, "bundle.json"}
    OnnxScreen.from_bundle(bundle)


def test_a_bundle_in_float_is_refused(run: TorchSelector, tmp_path: Path):
    export(run, tmp_path / "bundle", precision="float32")
    with pytest.raises(AllearsError, match="export it in int8"):
        add_screen(tmp_path / "bundle", tuned_reader(run))


def test_a_run_without_the_head_is_refused(run: TorchSelector, bundle: Path):
    reader = tuned_reader(run)
    other = copy.deepcopy(reader)
    kept = {name: labels for name, labels in reader.card.heads.items() if name != "whose"}
    other.card = ReaderCard(kept, reader.card.limits, reader.card.encoder)
    with pytest.raises(
        AllearsError, match=r"has no whose head, it has danger, all-clear; train one with recipes"
    ):
        add_screen(bundle, other)


def test_a_run_that_began_as_another_encoder_is_refused_and_the_bundle_left_alone(
    run: TorchSelector, bundle: Path
):
    stranger = copy.deepcopy(run)
    torch.manual_seed(9)
    stranger.model.encoder.load_state_dict(tiny_encoder().state_dict())  # type: ignore[union-attr]
    before = (bundle / "bundle.json").read_text()
    with pytest.raises(AllearsError, match="does not say what the run says"):
        add_own_encoder(bundle, tuned_reader(stranger), SCREEN, rank=1)
    assert (bundle / "bundle.json").read_text() == before


def test_a_bundle_without_one_says_how_to_add_it(bundle: Path):
    with pytest.raises(AllearsError, match="--screen RUN"):
        OnnxScreen.from_bundle(bundle)


def test_a_broken_card_is_one_sentence(run: TorchSelector, bundle: Path):
    add_screen(bundle, tuned_reader(run))
    card = bundle / "screen.json"
    broken = json.loads(card.read_text()) | {"heads": 3}
    card.write_text(json.dumps(broken).ljust(card.stat().st_size)[: card.stat().st_size])
    with pytest.raises(AllearsError, match=r"screen\.json"):
        OnnxScreen.from_bundle(bundle)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"heads": {"risk": ["none", "suicide"]}}, "not trained for the head danger; it has risk"),
        ({"heads": {"danger": ["none", "suicide"]}}, "head danger gives other labels than this version"),
    ],
)
def test_a_screen_of_an_older_version_is_one_sentence(
    change: dict, sentence: str, run: TorchSelector, bundle: Path
):
    add_screen(bundle, tuned_reader(run))
    card = BundledReaderCard.read(bundle, SCREEN_CARD_FILE)
    older = replace(card, heads=change["heads"], temperatures={})
    with pytest.raises(AllearsError, match=sentence):
        OnnxScreen(older, Bundle(bundle).tokenizer, Bundle(bundle).graph(SCREEN_FILE))


def test_a_bundle_has_a_screen_or_has_none(run: TorchSelector, bundle: Path):
    assert not has_screen(bundle)
    add_screen(bundle, tuned_reader(run))
    assert has_screen(bundle)


@pytest.mark.parametrize(
    "message", ["my cat is lost", "\ud800", "a" * 8_000, "my cat is lost. " * 500, "die. " * 1_600]
)
def test_a_screen_of_a_bundle_reads_any_message(run: TorchSelector, bundle: Path, message: str):
    add_screen(bundle, tuned_reader(run))
    found = CrisisScreen.from_bundle(bundle).check(message[:8_000], [Turn(Role.SUPPORTER, "tell me")])
    assert found.evidence[0].layer == "screen"
    assert "failed" not in found.evidence[0].name
    assert 0 <= found.certainty <= 1


def test_the_listener_screens_with_the_one_of_its_bundle(
    listener: Listener, tiny_bundle: Path, tmp_path: Path
):
    folder = Path(shutil.copytree(tiny_bundle, tmp_path / "bundle"))
    selector = tiny_selector(tmp_path / "run", similarity="cosine", pooled=True)
    add_screen(folder, tuned_reader(selector))
    pool = tiny_bundle.parent / "pool.jsonl"
    opened = Listener.from_bundle(
        folder, pools=[pool], shipped=False, cache=tmp_path / "cache", voice="chosen"
    )
    assert isinstance(opened.screen.reader, OnnxScreen)
    assert opened.screen.reader.card == BundledReaderCard.read(folder, SCREEN_CARD_FILE)
    layers = [item["layer"] for item in opened.respond("my cat is lost").why.screening["evidence"]]
    assert layers[0] == "screen"


@pytest.mark.parametrize("count", [0, 3])
def test_an_encoder_has_only_so_many_layers(count: int):
    with pytest.raises(AllearsError, match=f"2 layers, of which the first {count}"):
        tiny_encoder().first_layers(count)
