"""A persona extractor in a bundle: on the ranker's encoder and its word table, as good as the torch one, no torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from persona_models import learned_extractor, ranker_beside, small_extractor, small_talk_tokenizer, tellings

from allears.errors import AllearsError
from allears.models.extractor import saved
from allears.models.extractor.loading import load_extractor
from allears.models.extractor.saved import TorchExtractor
from allears.nn.inputs import Inputs
from allears.personas.lengths import utterance_rows
from allears.personas.wording import persona_sentences
from allears.runtime import onnx_weights
from allears.runtime.bundle import BundleCard, BundleFile
from allears.runtime.extractor_card import BundledExtractorCard
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_selector import OnnxSelector
from allears.text.layout import pad_flat
from allears.training.export.bundle import export_together
from allears.training.export.extractor import add_extractor
from allears.training.export.ranker import export

EXAMPLES = tellings(32)
SAID = [each.utterance for each in EXAMPLES]
STEP, MEMORY, GATE = "extractor_step.onnx", "extractor_memory.onnx", "extractor_gate.onnx"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> TorchExtractor:
    return learned_extractor(tmp_path_factory.mktemp("learned"), EXAMPLES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, learned: TorchExtractor) -> Path:
    """Bundles in every precision, one whose files are small, and one without the extractor."""
    folder = tmp_path_factory.mktemp("bundles")
    ranker = ranker_beside(learned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            onnx_weights, "SMALLEST_TABLE", 0
        )  # so that this small table is rounded as a large one is
        for precision in ("float32", "float16", "int8"):
            export_together(ranker, folder / precision, extractor=learned, precision=precision)
        export_together(ranker, folder / "in pieces", extractor=learned, largest_file=4096)
        export(ranker, folder / "ranker only")
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "float32", tmp_path / "bundle"))


# --- the same sentences


@pytest.mark.parametrize("beam", [1, 3])
def test_float32_writes_what_torch_writes(made: Path, learned: TorchExtractor, beam: int):
    bundle = OnnxExtractor.from_bundle(made / "float32", beam=beam, verify=True)
    model = TorchExtractor(learned.model, learned.card, learned.tokenizer, beam=beam)
    np.testing.assert_allclose(bundle.tells(SAID), model.tells(SAID), atol=1e-5)
    assert bundle.write(SAID) == model.write(SAID)
    assert bundle.extract(SAID) == model.extract(SAID)
    assert any(bundle.extract(SAID))


def test_every_step_has_the_models_probabilities(made: Path, learned: TorchExtractor):
    bundle = OnnxExtractor.from_bundle(made / "float32")
    rows = utterance_rows(SAID[:3], bundle.tokenizer, bundle.card.lengths)
    tokens = pad_flat(rows, bundle.tokenizer.pad)
    assert 0 in tokens.mask  # there is padding
    inputs = Inputs.from_tokens(tokens)
    with torch.inference_mode():
        model = learned.model.eval()
        expected = model.start(inputs, model.read(inputs)[1])
        given = bundle.start(bundle.encoder.texts(tokens))
        last = np.full(3, bundle.card.start)
        for _ in range(5):
            wanted, expected = model.step(torch.from_numpy(last), expected)
            found, given = bundle.step(last, given)
            np.testing.assert_allclose(found, wanted.numpy(), atol=1e-3)
            last = found.argmax(-1)


def test_without_training_float32_writes_the_same_too(tmp_path: Path):
    extractor = small_extractor(
        tmp_path / "tokenizer", seed=3
    )  # nothing here is likely, so that rounding would show
    export_together(ranker_beside(extractor), tmp_path / "bundle", extractor=extractor, precision="float32")
    assert OnnxExtractor.from_bundle(tmp_path / "bundle").write(SAID) == extractor.write(SAID)


@pytest.mark.parametrize("precision", ["int8", "float16", "in pieces"])
def test_rounded_weights_still_say_what_was_learned_by_heart(
    made: Path, learned: TorchExtractor, precision: str
):
    bundle = OnnxExtractor.from_bundle(made / precision, verify=True)
    likely, expected = bundle.tells(SAID), learned.tells(SAID)
    assert not np.array_equal(likely, expected)
    assert np.abs(likely - expected).max() < 0.1
    for each, found in zip(EXAMPLES, bundle.extract(SAID), strict=True):
        assert [text.lower() for text in found] == [text.lower() for text in persona_sentences(each.persona)]


def test_padding_and_batch_mates_change_nothing(made: Path):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    assert bundle.extract(SAID)[:8] == [bundle.extract([text])[0] for text in SAID[:8]]
    alone = [float(bundle.tells([text])[0]) for text in SAID[:8]]
    assert bundle.tells(SAID)[:8].tolist() == pytest.approx(alone, abs=1e-5)


def test_no_utterances_and_no_words_tell_nothing(made: Path):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    assert bundle.extract([]) == []
    assert bundle.extract(["", "   ", "🙂🙂", "?!"]) == [(), (), (), ()]


def test_any_text_has_an_answer(made: Path):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    bundle.card = replace(bundle.card, threshold=0.0)  # everything tells something
    texts = ["猫が好きです。", "i have a boat. " * 3000, "\x00\ufffd", "a" * 5000, "half \ud83d", "ok"]
    found = bundle.extract(texts)
    assert len(found) == len(texts)
    assert all(isinstance(sentence, str) for sentences in found for sentence in sentences)


# --- one encoder


def runs_of(bundle: OnnxExtractor, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each pass of the encoder reads, from now on."""
    passes: list[int] = []
    run = bundle.encoder.run
    monkeypatch.setattr(
        bundle.encoder, "run", lambda ids, *a, **k: passes.append(len(ids)) or run(ids, *a, **k)
    )
    return passes


def test_a_text_is_encoded_once_for_the_gate_and_the_decoder(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    passes = runs_of(bundle, monkeypatch)
    assert bundle.extract(SAID[:1])[0]
    assert passes == [1]


def test_what_was_encoded_already_is_not_encoded_again(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    expected = bundle.extract(SAID[:3])
    texts = bundle.encoder.texts(
        pad_flat(utterance_rows(SAID[:2], bundle.tokenizer, bundle.card.lengths), bundle.tokenizer.pad)
    )
    passes = runs_of(bundle, monkeypatch)
    assert bundle.knowing(texts).extract(SAID[:2]) == expected[:2]
    assert passes == []
    assert bundle.knowing(texts).extract(SAID[:3]) == expected  # one of them is new
    assert passes == [1]
    bundle.extract(SAID[:1])  # the extractor itself has learned nothing by that
    assert passes == [1, 1]


def test_the_decoder_writes_only_where_the_gate_opens(made: Path, monkeypatch: pytest.MonkeyPatch):
    bundle = OnnxExtractor.from_bundle(made / "int8")
    silent = [each.utterance for each in EXAMPLES if not each.persona]
    monkeypatch.setattr(bundle, "start", lambda texts: pytest.fail("nothing is to be written"))
    assert bundle.extract(silent) == [()] * len(silent)
    assert "lexicon" not in vars(bundle)  # which costs time to make, and was not needed


@pytest.mark.parametrize("precision", ["int8", "float16", "float32", "in pieces"])
def test_the_word_table_lies_in_the_encoders_files_only(made: Path, learned: TorchExtractor, precision: str):
    folder = made / precision
    for name in (STEP, MEMORY):
        graph = onnx.load(folder / name, load_external_data=False).graph
        places = {
            entry.value
            for tensor in graph.initializer
            for entry in tensor.external_data
            if entry.key == "location"
        }
        assert any(place.startswith("encoder.onnx.data.") for place in places)
    rows, width = learned.model.table.shape
    largest = max(
        int(np.prod(tensor.dims))
        for name in (STEP, MEMORY)
        for tensor in onnx.load(folder / name, load_external_data=False).graph.initializer
        if not any(entry.value.startswith("encoder") for entry in tensor.external_data)
    )
    assert largest < rows * width
    names = BundleCard.read(folder).files
    assert {"extractor.json", GATE, MEMORY, STEP} <= set(names)


def test_in_int8_the_decoder_multiplies_with_the_encoders_rounded_rows(made: Path):
    nodes = onnx.load(made / "int8" / STEP, load_external_data=False).graph.node
    assert sum(node.op_type == "MatMulNBits" and "table.blocks" in node.input for node in nodes) == 1
    assert not any("table" in node.input for node in nodes)


def test_no_file_of_weights_is_larger_than_asked_for(made: Path):
    files = BundleCard.read(made / "in pieces").files
    weights = {name: facts.bytes for name, facts in files.items() if ".data." in name}
    assert max(weights.values()) <= 4096
    assert sum(name.startswith("extractor_step") for name in weights) > 1


def test_adding_an_extractor_leaves_the_ranker_and_its_indexes_good(
    made: Path, learned: TorchExtractor, tmp_path: Path
):
    before = BundleCard.read(made / "ranker only")
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    after = add_extractor(bundle, learned, largest_file=4096)
    assert after == BundleCard.read(bundle)
    assert after.fingerprint == before.fingerprint == OnnxSelector.from_bundle(bundle).fingerprint
    assert replace(after, files=before.files) == before
    assert all(BundleFile.of(bundle / name) == facts for name, facts in after.files.items())
    # another extractor takes its place, and leaves nothing of the old one
    other = TorchExtractor(learned.model, replace(learned.card, threshold=0.25), learned.tokenizer)
    again = add_extractor(bundle, other)
    assert len(again.files) < len(after.files)
    assert {path.name for path in bundle.iterdir()} == {"bundle.json", *again.files}
    assert OnnxExtractor.from_bundle(bundle, verify=True).card.threshold == 0.25
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]  # nothing is left lying about


def test_an_extractor_that_cannot_be_put_in_place_leaves_a_whole_bundle(
    copy: Path, learned: TorchExtractor, monkeypatch: pytest.MonkeyPatch
):
    put = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).parent == copy and Path(target).name == STEP:
            raise OSError("no space left on device")
        return put(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        add_extractor(copy, learned)
    OnnxSelector.from_bundle(copy, verify=True)
    with pytest.raises(AllearsError, match="carries no persona extractor"):
        OnnxExtractor.from_bundle(copy)


def test_a_decoder_that_comes_out_wrong_never_reaches_the_bundle(
    made: Path, learned: TorchExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    step = OnnxExtractor.step
    monkeypatch.setattr(OnnxExtractor, "step", lambda self, tokens, state: step(self, tokens * 0, state))
    with pytest.raises(AllearsError, match="does not write as the model does"):
        add_extractor(bundle, learned)
    assert not list(bundle.glob("extractor*"))


def test_exporting_leaves_the_extractor_as_it_was(learned: TorchExtractor, tmp_path: Path):
    before = {name: value.clone() for name, value in learned.model.state_dict().items()}
    said = learned.extract(SAID[:4])
    export_together(ranker_beside(learned), tmp_path / "bundle", extractor=learned)
    assert learned.extract(SAID[:4]) == said
    assert all(torch.equal(value, before[name]) for name, value in learned.model.state_dict().items())


def test_what_the_extractor_is_stands_beside_it(made: Path, learned: TorchExtractor):
    said = json.loads((made / "int8" / "extractor.json").read_text())
    assert said["lengths"] == {"utterance_tokens": 24, "persona_tokens": 16}
    assert (said["threshold"], said["framing_price"]) == (0.5, 2.0)
    assert (said["size"], said["layers"], said["heads"]) == (48, 2, 4)
    assert said["start"] == said["vocabulary"] == learned.model.decoder.vocabulary


# --- what does not belong together


def test_an_extractor_on_another_encoder_is_refused(made: Path, tmp_path: Path, learned: TorchExtractor):
    other = small_extractor(tmp_path / "other", seed=5)
    with pytest.raises(
        AllearsError, match=r"persona extractor's encoder has other weights than that of the ranker"
    ):
        export_together(ranker_beside(learned), tmp_path / "new", extractor=other)
    assert not (tmp_path / "new").exists()
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    with pytest.raises(AllearsError, match=r"other weights than that of .*bundle, so it would misread"):
        add_extractor(bundle, other)
    assert not list(bundle.glob("extractor*"))


def test_an_extractor_with_another_tokenizer_is_refused(made: Path, learned: TorchExtractor, tmp_path: Path):
    tokenizer = small_talk_tokenizer(tmp_path / "tokenizer")
    tokenizer.backend.add_tokens(["kayak"])
    other = TorchExtractor(learned.model, learned.card, tokenizer)
    with pytest.raises(
        AllearsError, match=r"the persona extractor cuts text into other tokens than .*ranker only"
    ):
        add_extractor(made / "ranker only", other)


def test_a_bundle_of_an_older_version_is_one_sentence(
    made: Path, learned: TorchExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    graph = onnx.load(bundle / "encoder.onnx", load_external_data=False)
    for tensor in graph.graph.initializer:  # as they once were called
        tensor.name = tensor.name.replace("word_embeddings.weight", "Gather")
    for node in graph.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = name.replace("word_embeddings.weight", "Gather")
    (bundle / "encoder.onnx").write_bytes(graph.SerializeToString())
    with pytest.raises(AllearsError, match="its word table is not where this version of allears puts it"):
        add_extractor(bundle, learned)
    card = json.loads((bundle / "bundle.json").read_text())
    del card["encoder_digest"]
    (bundle / "bundle.json").write_text(json.dumps(card))
    with pytest.raises(AllearsError, match="export it again before a persona extractor is added"):
        add_extractor(bundle, learned)


def test_a_table_that_int8_cannot_share_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(onnx_weights, "SMALLEST_TABLE", 0)
    monkeypatch.setattr("persona_models.WIDTH", 40)
    extractor = small_extractor(tmp_path / "tokenizer")
    with pytest.raises(AllearsError, match="a word table of 40 columns cannot be shared in int8"):
        export_together(ranker_beside(extractor), tmp_path / "bundle", extractor=extractor)
    export_together(ranker_beside(extractor), tmp_path / "half", extractor=extractor, precision="float16")
    assert len(OnnxExtractor.from_bundle(tmp_path / "half").write(SAID[:2])) == 2


# --- opening one


def test_extracting_imports_neither_torch_nor_transformers_nor_onnx(made: Path):
    code = f"""
import sys
from allears.conversation import Turn
from allears.models.extractor.loading import load_extractor
from allears.personas.provenance import extract_persona
extractor = load_extractor({str(made / "int8")!r})
assert extract_persona(extractor, [(1, {SAID[0]!r})]).kept
print(*[name for name in ("torch", "transformers", "onnx", "faiss", "pandas", "scipy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_bundle_is_an_extractor_by_its_folder_or_as_the_default(
    made: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("allears.runtime.bundle.default_bundle", lambda: made / "int8")
    expected = OnnxExtractor.from_bundle(made / "int8").extract(SAID[:4])
    assert load_extractor("default").extract(SAID[:4]) == expected
    assert load_extractor(made / "int8").extract(SAID[:4]) == expected
    assert OnnxExtractor.from_bundle().extract(SAID[:4]) == expected


def test_a_bundle_without_an_extractor_is_one_sentence_but_still_ranks(
    made: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("allears.runtime.bundle.default_bundle", lambda: made / "ranker only")
    with pytest.raises(
        AllearsError, match=r"this install carries no default persona extractor; .* or 'copy'"
    ):
        load_extractor("default")
    with pytest.raises(AllearsError, match="ranker only: this bundle carries no persona extractor"):
        load_extractor(made / "ranker only")
    with pytest.raises(
        AllearsError, match=r"carries no persona extractor; export it again with .*--extractor"
    ):
        OnnxExtractor.from_bundle(made / "ranker only")
    assert len(OnnxSelector.from_bundle(made / "ranker only").encode_responses(["my boat"])) == 1


def test_a_bundle_does_not_extract_on_a_gpu(made: Path):
    with pytest.raises(AllearsError, match="an ONNX bundle runs on the CPU; leave out --device cuda"):
        load_extractor(made / "int8", "cuda")


@pytest.mark.parametrize(
    "name", [GATE, MEMORY, STEP, f"{STEP}.data.0", "extractor.json", "encoder.onnx.data.0"]
)
def test_a_missing_file_is_one_sentence(copy: Path, name: str):
    (copy / name).unlink()
    with pytest.raises(AllearsError, match=rf"{name}: this file of the bundle is missing"):
        OnnxExtractor.from_bundle(copy)


@pytest.mark.parametrize("name", [GATE, MEMORY, STEP])
def test_a_corrupt_graph_is_one_sentence(copy: Path, name: str):
    (copy / name).write_bytes(b"\x00" * (copy / name).stat().st_size)
    with pytest.raises(AllearsError, match=rf"{name}: the graph cannot be loaded"):
        OnnxExtractor.from_bundle(copy)


GOOD = {"format": 1, "lengths": {}, "size": 48, "vocabulary": 9, "start": 9, "layers": 2, "heads": 4}
GOOD |= {"threshold": 0.5, "framing_price": 2.0}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not readable as JSON"),
        ("[]", "format None, but this version of allears reads format 1"),
        (json.dumps(GOOD | {"format": 2}), "format 2, but this version of allears reads format 1"),
        (json.dumps({"format": 1}), "not a persona extractor's card .*lengths"),
        (
            json.dumps(GOOD | {"lengths": {"utterance_tokens": 0}}),
            "not a persona extractor's card .*at least 1",
        ),
        (json.dumps(GOOD | {"heads": 5}), "not a persona extractor's card .*5 heads do not share 48"),
        (json.dumps(GOOD | {"threshold": "high"}), "not a persona extractor's card"),
        (json.dumps(GOOD | {"mood": "good"}), "not a persona extractor's card .*mood"),
    ],
)
def test_a_broken_card_is_one_sentence(tmp_path: Path, content: str, problem: str):
    (tmp_path / "extractor.json").write_text(content)
    with pytest.raises(AllearsError, match=rf"extractor.json: {problem}"):
        BundledExtractorCard.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"layers": 3}, "the graph is of another decoder than extractor.json says"),
        ({"vocabulary": 7}, "the graph is of another decoder than extractor.json says"),
        ({"size": 16}, "its extractor is for states of 16 numbers, its encoder makes 48"),
    ],
)
def test_a_card_of_another_extractor_is_one_sentence(copy: Path, change: dict[str, int], problem: str):
    card = BundledExtractorCard.read(copy)
    replace(card, **change).write(copy)
    files = BundleCard.read(copy).files | {"extractor.json": BundleFile.of(copy / "extractor.json")}
    replace(BundleCard.read(copy), files=files).write(copy)
    with pytest.raises(AllearsError, match=problem):
        OnnxExtractor.from_bundle(copy)


def test_an_extractor_that_was_saved_is_exported_as_it_is(
    learned: TorchExtractor, made: Path, tmp_path: Path
):
    saved.save(tmp_path / "run" / "best", learned.model, learned.card, learned.tokenizer)
    bundle = Path(shutil.copytree(made / "ranker only", tmp_path / "bundle"))
    add_extractor(bundle, saved.load(tmp_path / "run"))
    assert OnnxExtractor.from_bundle(bundle).extract(SAID[:4]) == learned.extract(SAID[:4])
