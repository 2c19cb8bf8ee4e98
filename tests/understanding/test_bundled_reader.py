"""A reader in a bundle: heads on the ranker's encoder that answer as the torch reader does, without torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.evaluation.analyses.emotion_map import classifier_vectors
from allears.evaluation.understanding import evaluate_understanding
from allears.models.reader.loading import load_reading_model
from allears.models.reader.saved import TorchReader
from allears.runtime.bundle import BundleCard, BundleFile
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.reader_card import BundledReaderCard
from allears.text.reading import Reading
from allears.training.export.bundle import add_reader, export_with_reader
from allears.training.export.ranker import export
from tiny_models import queries, tiny_reader, tiny_selector, tiny_tokenizer

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
READINGS = [
    Reading((Turn(SEEKER, "my cat is lost"),)),
    Reading((Turn(SEEKER, "great news!"), Turn(SUPPORTER, "tell me", strategy="Question"))),
    Reading((Turn(SEEKER, "so sad, " * 9), Turn(SUPPORTER, "so sorry"), Turn(SEEKER, "the boat is lost?"))),
    Reading((Turn(SEEKER, ""),)),
    Reading((Turn(SEEKER, "a job is a job. my friend is glad, your dog was sad."),)),
]
PAIR = Reading((Turn(SEEKER, "my cat is lost"), Turn(SUPPORTER, "So sorry. Tell me")), ("1",), ("So sorry",))
NAMES = ("ed-emotion", "goemotions", "strategy", "epitome-explorations")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TorchReader:
    return tiny_reader(tiny_selector(tmp_path_factory.mktemp("trained")), hidden=8)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, trained: TorchReader) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    export_with_reader(
        tiny_selector(folder / "run"), trained, folder / "float32", precision="float32", metrics={"mood": 1}
    )
    export_with_reader(tiny_selector(folder / "run"), trained, folder / "int8")
    export(tiny_selector(folder / "run"), folder / "ranker only")
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "float32", tmp_path / "bundle"))


# --- the same answers


@pytest.mark.parametrize("name", [*NAMES, "ed-polarity"])
def test_float32_probabilities_equal_the_torch_readers(made: Path, trained: TorchReader, name: str):
    bundle = OnnxReader.from_bundle(made / "float32", verify=True)
    expected = trained.probabilities(head(name), READINGS)
    assert np.ptp(expected, axis=0).max() > 0.05  # the readings do differ
    np.testing.assert_allclose(bundle.probabilities(head(name), READINGS), expected, atol=1e-4)


@pytest.mark.parametrize("options", [{}, {"pooling": "cls"}, {"rationales": []}, {"hidden": 8}])
def test_every_option_that_changes_the_heads_is_exported(tmp_path: Path, options: dict[str, object]):
    selector = tiny_selector(tmp_path / "run", "bi_encoder")
    reader = tiny_reader(selector, **options)
    export_with_reader(selector, reader, tmp_path / "bundle", precision="float32")
    bundle = OnnxReader.from_bundle(tmp_path / "bundle")
    expected = reader.answers(READINGS)
    assert list(bundle.answers(READINGS)) == list(expected) == list(NAMES)
    for name, found in bundle.answers(READINGS).items():
        np.testing.assert_allclose(found, expected[name], atol=1e-4)


def test_int8_stays_close(made: Path, trained: TorchReader):
    found = OnnxReader.from_bundle(made / "int8").answers(READINGS)
    expected = trained.answers(READINGS)
    assert not all(np.array_equal(found[name], expected[name]) for name in NAMES)  # weights were rounded
    for name in NAMES:
        assert np.abs(found[name] - expected[name]).max() < 0.1


def test_a_whole_reading_is_the_torch_readers(made: Path, trained: TorchReader):
    found = OnnxReader.from_bundle(made / "float32").read(READINGS[2].turns, k=2)
    for name, likely in trained.read(READINGS[2].turns, k=2).items():
        assert [label for label, _ in found[name]] == [label for label, _ in likely]
        assert [p for _, p in found[name]] == pytest.approx([p for _, p in likely], abs=1e-4)


def test_a_whole_reading_costs_one_pass_of_the_encoder(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxReader.from_bundle(made / "float32")
    passes = []
    run = bundle.encoder.run
    monkeypatch.setattr(bundle.encoder, "run", lambda *a, **k: passes.append(1) or run(*a, **k))
    assert list(bundle.read(PAIR.turns)) == list(NAMES)
    assert len(passes) == 1


def test_batch_mates_change_nothing(made: Path):
    bundle = OnnxReader.from_bundle(made / "int8")
    together, alone = bundle.answers(READINGS), bundle.answers(READINGS, batch=1)
    for name in NAMES:
        np.testing.assert_allclose(alone[name], together[name], atol=1e-5)
        np.testing.assert_allclose(bundle.probabilities(head(name), READINGS), together[name], atol=1e-5)


def test_no_readings_have_no_answers(made: Path):
    bundle = OnnxReader.from_bundle(made / "int8")
    assert bundle.probabilities(head("ed-emotion"), []).shape == (0, 32)
    assert bundle.answers([])["goemotions"].shape == (0, 28)


def test_rationales_are_the_torch_readers(made: Path, trained: TorchReader):
    bundle = OnnxReader.from_bundle(made / "float32")
    exploring = head("epitome-explorations")
    assert bundle.rationale_scores(exploring, [PAIR]) == pytest.approx(
        trained.rationale_scores(exploring, [PAIR])
    )
    for threshold in (0.0, 0.5, 1.0):
        found = bundle.rationales(exploring.name, PAIR, threshold=threshold)
        assert found == trained.rationales(exploring.name, PAIR, threshold=threshold)
    assert bundle.rationales(exploring.name, PAIR, threshold=0.0) == ["So sorry. Tell me"]
    assert bundle.rationales(exploring.name, PAIR, threshold=1.0) == []
    report = evaluate_understanding(bundle, exploring, [PAIR, PAIR])
    assert report.rationale_f1 == pytest.approx(trained.rationale_scores(exploring, [PAIR])[0])


def test_a_shown_strategy_is_no_part_of_a_rationale(made: Path):
    asked = replace(PAIR, turns=(PAIR.turns[0], Turn(SUPPORTER, "tell me", strategy="Question")))
    found = OnnxReader.from_bundle(made / "int8").rationales("epitome-explorations", asked, threshold=0.0)
    assert found == ["tell me"]


def test_heads_without_pointers_are_measured_without_rationales(tmp_path: Path):
    selector = tiny_selector(tmp_path / "run")
    reader = tiny_reader(selector, rationales=[])  # as a reader with a frozen encoder has none
    export_with_reader(selector, reader, tmp_path / "bundle")
    for model in (reader, OnnxReader.from_bundle(tmp_path / "bundle")):
        assert evaluate_understanding(model, head("epitome-explorations"), [PAIR]).rationale_f1 is None
        with pytest.raises(AllearsError, match="not trained to point at the rationales of epitome-expl"):
            model.rationales("epitome-explorations", PAIR)


# --- one encoder


def test_states_that_a_ranker_made_are_answered_from(made: Path):
    selector = OnnxSelector.from_bundle(made / "float32")
    reader = OnnxReader.from_bundle(made / "float32", encoder=selector.encoder, tokenizer=selector.tokenizer)
    assert reader.encoder is selector.encoder
    contexts = selector.encode_queries(queries()).contexts
    longest = max(len(text.states) for text in contexts)
    states, mask = np.zeros((3, longest, 32), np.float32), np.zeros((3, longest), np.int64)
    for row, text in enumerate(contexts):
        states[row, : len(text.states)], mask[row, : len(text.states)] = text.states, 1
    found = reader.from_states(states, mask)
    expected = reader.answers([Reading(query.context) for query in queries()])
    for name in NAMES:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-4)


@pytest.mark.parametrize(("states", "mask"), [((5, 32), (5,)), ((1, 5, 16), (1, 5)), ((1, 5, 32), (1, 4))])
def test_states_of_another_shape_are_one_sentence(made: Path, states: tuple[int, ...], mask: tuple[int, ...]):
    reader = OnnxReader.from_bundle(made / "int8")
    with pytest.raises(AllearsError, match=r"takes token states \[texts, tokens, 32\] and their mask"):
        reader.from_states(np.zeros(states), np.ones(mask))


def test_adding_a_reader_leaves_the_ranker_and_its_indexes_good(made: Path, tmp_path: Path):
    before = BundleCard.read(made / "ranker only")
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    reader = tiny_reader(tiny_selector(tmp_path / "run"))
    after = add_reader(bundle, reader)
    assert after == BundleCard.read(bundle)
    assert after.fingerprint == before.fingerprint == OnnxSelector.from_bundle(bundle).fingerprint
    assert replace(after, files=before.files) == before
    assert set(after.files) - set(before.files) == {"reader.onnx", "reader.json"}
    assert all(BundleFile.of(bundle / name) == facts for name, facts in after.files.items())
    # another reader takes its place
    other = replace(reader.card, temperatures={"ed-emotion": 9.0})
    assert add_reader(bundle, TorchReader(reader.model, other, reader.tokenizer)) != after
    assert OnnxReader.from_bundle(bundle, verify=True).card.temperatures == {"ed-emotion": 9.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bundle",
        "run",
    ]  # nothing is left lying about
    assert {path.name for path in bundle.iterdir()} == {"bundle.json", *after.files}


def test_a_reader_that_cannot_be_put_in_place_leaves_a_whole_bundle(
    copy: Path, trained: TorchReader, monkeypatch: pytest.MonkeyPatch
):
    put = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).name == "reader.json":
            raise OSError("no space left on device")
        return put(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        add_reader(copy, trained)
    OnnxSelector.from_bundle(copy, verify=True)
    with pytest.raises(AllearsError, match="carries no reader"):
        OnnxReader.from_bundle(copy)


def test_exporting_leaves_the_reader_as_it_was(tmp_path: Path):
    selector = tiny_selector(tmp_path / "run")
    reader = tiny_reader(selector)
    before = reader.answers(READINGS)
    export_with_reader(selector, reader, tmp_path / "bundle")
    assert all(np.array_equal(found, before[name]) for name, found in reader.answers(READINGS).items())
    assert "encoder.model.embeddings.word_embeddings.weight" in reader.model.state_dict()


def test_what_the_reader_is_stands_beside_it_without_the_encoder(made: Path, trained: TorchReader):
    said = json.loads((made / "float32" / "reader.json").read_text())
    assert said["heads"] == {name: list(head(name).labels) for name in NAMES}
    assert said["limits"]["context_tokens"] == 40
    assert said["temperatures"] == {"ed-emotion": 0.5, "goemotions": 1.7}
    assert (said["multi_label"], said["pointing"]) == (["goemotions"], ["epitome-explorations"])
    assert (said["pooling"], said["size"]) == ("mean", 32)
    assert "encoder" not in said
    assert BundleCard.read(made / "float32").metrics == {"mood": 1}


def test_heads_of_another_encoder_are_refused(made: Path, tmp_path: Path):
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    selector = tiny_selector(tmp_path / "run")
    reader = tiny_reader(selector)
    with torch.no_grad():
        reader.model.encoder.model.embeddings.LayerNorm.bias[3] += 0.01
    with pytest.raises(
        AllearsError, match=r"the reader's encoder has other weights than that of .*bundle, so"
    ):
        add_reader(bundle, reader)
    other = tiny_selector(tmp_path / "other", seed=5)
    with pytest.raises(AllearsError, match="has other weights than that of the ranker"):
        export_with_reader(other, reader, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not (bundle / "reader.onnx").exists()


def test_a_reader_with_another_tokenizer_is_refused(made: Path, tmp_path: Path):
    reader = tiny_reader(tiny_selector(tmp_path / "run"))
    reader.tokenizer = tiny_tokenizer(tmp_path / "tokenizer")
    reader.tokenizer.backend.add_tokens(["boats"])
    with pytest.raises(AllearsError, match=r"cuts text into other tokens than .*ranker only"):
        add_reader(made / "ranker only", reader)


def test_a_bundle_that_does_not_know_its_encoders_weights_is_refused(copy: Path, trained: TorchReader):
    card = json.loads((copy / "bundle.json").read_text())
    del card["encoder_digest"]
    (copy / "bundle.json").write_text(json.dumps(card))
    OnnxSelector.from_bundle(copy)  # it still ranks
    with pytest.raises(AllearsError, match="from an older version; export it again before a reader is added"):
        add_reader(copy, trained)


def test_rounding_weights_to_half_precision_is_no_other_encoder(made: Path, tmp_path: Path):
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    reader = tiny_reader(tiny_selector(tmp_path / "run"))
    reader.model.encoder.half().float()
    assert "reader.onnx" in add_reader(bundle, reader).files


# --- no torch, odd texts


def test_reading_imports_neither_torch_nor_transformers_nor_onnx(made: Path):
    code = f"""
import sys
from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.models.reader.loading import load_reading_model
from allears.text.reading import Reading
turn = Turn(Role.SEEKER, "my cat is lost")
model = load_reading_model({str(made / "int8")!r}, head("ed-emotion"))
assert model.probabilities(head("ed-emotion"), [Reading((turn,))]).shape == (1, 32)
assert len(model.read([turn])) == 4
model.rationales("epitome-explorations", Reading((turn, turn)))
print(*[name for name in ("torch", "transformers", "onnx", "faiss", "pandas", "scipy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "text", ["", " ", "😀😀", "我很难过", "أنا حزين", "cat " * 25_000, "x" * 100_000, "\x00", "half \ud83d"]
)
def test_odd_texts_are_read(made: Path, text: str):
    bundle = OnnxReader.from_bundle(made / "int8")
    for turns in (
        (Turn(SEEKER, text),),
        (Turn(SEEKER, "my cat"), Turn(SUPPORTER, text)),
        (Turn(SEEKER, text),) * 30,
    ):
        for labels in bundle.read(turns).values():
            assert len(labels) == 3
            assert all(0 <= likely <= 1 for _, likely in labels)
        bundle.rationales("epitome-explorations", Reading(turns), threshold=0.0)


def test_nothing_said_at_all_is_read(made: Path):
    bundle = OnnxReader.from_bundle(made / "int8")
    assert set(bundle.read([])) == set(NAMES)
    assert bundle.rationales("epitome-explorations", Reading(())) == []
    assert bundle.rationale_scores(head("epitome-explorations"), [Reading(())]).shape == (1,)


def test_long_texts_are_cut(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxReader.from_bundle(made / "int8")
    widths = []
    run = bundle.encoder.run
    monkeypatch.setattr(bundle.encoder, "run", lambda ids, *a: widths.append(ids.shape[1]) or run(ids, *a))
    bundle.read([Turn(SEEKER, "cat " * 25_000)] * 30)
    assert widths[0] <= bundle.card.limits.context_tokens


def test_texts_of_similar_length_are_read_together(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxReader.from_bundle(made / "int8")
    shapes = []
    run = bundle.encoder.run
    monkeypatch.setattr(bundle.encoder, "run", lambda ids, *a: shapes.append(ids.shape) or run(ids, *a))
    texts = ["cat", "cat " * 15, "dog", "dog " * 15]
    bundle.answers([Reading((Turn(SEEKER, text),)) for text in texts], batch=2)
    assert shapes == [(2, 3), (2, 17)]


# --- what can be wrong


def test_a_bundle_without_a_reader_is_one_sentence(made: Path):
    with pytest.raises(AllearsError, match=r"ranker only: this bundle carries no reader; export it again"):
        load_reading_model(made / "ranker only", head("ed-emotion"))


def test_a_head_that_the_bundle_lacks_is_one_sentence(made: Path):
    model = load_reading_model(made / "int8", head("topic"))
    with pytest.raises(AllearsError, match="not trained for the head topic; it has ed-emotion, goemotions"):
        model.probabilities(head("topic"), READINGS)
    with pytest.raises(AllearsError, match="not trained for the head risk"):
        OnnxReader.from_bundle(made / "int8").needs("risk")


def test_a_bundle_has_no_vectors_of_its_labels_to_map(made: Path):
    with pytest.raises(AllearsError, match="a bundle does not show its labels' vectors; give a reader's run"):
        classifier_vectors(OnnxReader.from_bundle(made / "int8"), head("ed-emotion"))


def test_a_bundle_does_not_read_on_a_gpu(made: Path):
    with pytest.raises(AllearsError, match="an ONNX bundle runs on the CPU; leave out --device cuda"):
        load_reading_model(made / "int8", head("ed-emotion"), device="cuda")


def test_a_missing_graph_is_one_sentence(copy: Path):
    (copy / "reader.onnx").unlink()
    with pytest.raises(AllearsError, match=r"reader.onnx: this file of the bundle is missing"):
        OnnxReader.from_bundle(copy)


def test_a_corrupt_graph_is_one_sentence(copy: Path):
    path = copy / "reader.onnx"
    path.write_bytes(b"\x00" * path.stat().st_size)
    with pytest.raises(AllearsError, match=r"reader.onnx: the graph cannot be loaded"):
        OnnxReader.from_bundle(copy)


def test_a_changed_byte_is_found_when_asked_to_verify(copy: Path):
    path = copy / "reader.json"
    path.write_text(path.read_text().replace("0.5", "0.7"))
    OnnxReader.from_bundle(copy)
    with pytest.raises(AllearsError, match=r"reader.json: its SHA-256 is wrong"):
        OnnxReader.from_bundle(copy, verify=True)


GOOD = {"format": 1, "heads": {"a": ["x", "y"]}, "limits": {}, "size": 32, "pooling": "mean"}
GOOD |= {"multi_label": [], "pointing": []}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not readable as JSON"),
        ("[]", "format None, but this version of allears reads format 1"),
        (json.dumps(GOOD | {"format": 2}), "format 2, but this version of allears reads format 1"),
        (json.dumps({"format": 1}), "not a reader's card .*heads"),
        (json.dumps(GOOD | {"heads": 3}), "not a reader's card"),
        (json.dumps(GOOD | {"limits": {"context_tokens": 0}}), "not a reader's card .*context_tokens"),
        (json.dumps(GOOD | {"mood": "good"}), "not a reader's card .*mood"),
        (json.dumps(GOOD | {"pointing": ["b"]}), "not a reader's card .*pointing names 'b'"),
        (
            json.dumps(GOOD | {"temperatures": {"a": 0}}),
            "not a reader's card .*temperature of a is not above",
        ),
        (json.dumps(GOOD | {"temperatures": {"a": "warm"}}), "not a reader's card"),
    ],
)
def test_a_broken_card_is_one_sentence(tmp_path: Path, content: str, problem: str):
    (tmp_path / "reader.json").write_text(content)
    with pytest.raises(AllearsError, match=rf"reader.json: {problem}"):
        BundledReaderCard.read(tmp_path)


@pytest.mark.parametrize(
    "change", [{"size": 16}, {"pointing": []}, {"heads": {"ed-emotion": ["sad"]}, "pointing": []}]
)
def test_a_card_of_another_graph_is_one_sentence(copy: Path, change: dict[str, object]):
    card = json.loads((copy / "reader.json").read_text()) | {"multi_label": [], "temperatures": {}} | change
    (copy / "reader.json").write_text(json.dumps(card))
    bundle = BundleCard.read(copy)
    files = {**bundle.files, "reader.json": BundleFile.of(copy / "reader.json")}
    replace(bundle, files=files).write(copy)
    with pytest.raises(AllearsError, match=r"reader.onnx: the graph has other heads than reader.json says"):
        OnnxReader.from_bundle(copy)
