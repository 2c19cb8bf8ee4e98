"""The light runtime: a bundle scores without torch, and says in one sentence what is wrong with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.saved import ModelCard, TorchSelector
from allears.nn.encoder import encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.runtime import onnx_encoder as runtime
from allears.runtime import onnx_selector
from allears.runtime.onnx_selector import OnnxSelector, StateComparison
from allears.runtime.selector import Query
from allears.text.layout import Limits
from allears.training.export.ranker import export
from tiny_models import RESPONSES, queries, tiny_selector


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    export(
        tiny_selector(folder / "run", pooled=True, similarity="cosine"),
        folder / "cobert",
        precision="float32",
    )
    export(tiny_selector(folder / "run-bi", "bi_encoder"), folder / "bi_encoder", precision="float32")
    return folder


@pytest.fixture(params=["cobert", "bi_encoder"])
def selector(request: pytest.FixtureRequest, made: Path) -> OnnxSelector:
    return OnnxSelector.from_bundle(made / request.param, threads=1)


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "cobert", tmp_path / "bundle"))


def test_candidates_are_kept_without_padding(made: Path):
    selector = OnnxSelector.from_bundle(made / "cobert")
    found = selector.encode_responses(RESPONSES)
    lengths = [len(ids) + 2 for ids in selector.tokenizer.encode_many(RESPONSES)]
    assert np.diff(found.offsets).tolist() == lengths
    assert found.states.shape == (sum(lengths), 32)
    assert found.states.dtype == np.float16
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)


def test_a_bi_encoder_keeps_no_token_states(made: Path):
    found = OnnxSelector.from_bundle(made / "bi_encoder").encode_responses(RESPONSES)
    assert found.states.shape == (0, 32)
    assert found.offsets.tolist() == [0] * (len(RESPONSES) + 1)


def test_batch_mates_change_nothing(selector: OnnxSelector, monkeypatch: pytest.MonkeyPatch):
    together = selector.encode_responses(RESPONSES)
    everything = np.tile(np.arange(len(RESPONSES)), (3, 1))
    scores = selector.score(queries(), together, everything)
    monkeypatch.setattr(runtime, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(onnx_selector, "CANDIDATES_AT_ONCE", 1)
    alone = selector.encode_responses(RESPONSES)
    np.testing.assert_allclose(alone.vectors, together.vectors, atol=1e-5)
    np.testing.assert_allclose(selector.score(queries(), alone, everything), scores, rtol=1e-3, atol=1e-3)


def test_company_does_not_change_a_bit_of_a_text():
    selector = OnnxSelector.from_bundle(threads=2)  # the shipped one: a tiny model rounds nothing away
    texts = [f"My {'very ' * (n % 5)}old friend wrote to me again today, number {n}." for n in range(12)]
    asked = [Query((Turn(Role.SEEKER, text),)) for text in texts]
    together = selector.encode_contexts(asked)
    alone = [selector.encode_contexts([query])[0] for query in asked]
    assert any(len(text.ids) % 2 for text in alone)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.states, other.states)


def test_texts_are_encoded_together_only_with_texts_of_their_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runtime, "TOKENS_AT_ONCE", 64)
    lengths = np.array([3, 17, 4, 1, 20, 19, 0, 100, 18, 2])
    widths = runtime.rounded(lengths)
    assert widths.tolist() == [4, 20, 4, 4, 20, 20, 4, 100, 20, 4]
    parts = [part.tolist() for part in runtime.alike(widths)]
    assert parts == [[7], [1, 4, 5], [8], [0, 2, 3, 6, 9]]


def test_many_comparisons_at_once_are_those_of_one_by_one(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(onnx_selector, "CANDIDATES_AT_ONCE", 2)
    selector = OnnxSelector.from_bundle(made / "cobert", threads=2)
    candidates, encoded = selector.encode_responses(RESPONSES), selector.encode_queries(queries())
    chosen = [np.array([4, 0, 2]), np.array([1]), np.array([3, 5, 1, 0])]
    comparisons = [
        StateComparison(encoded.rows(0, 2), candidates, chosen[0]),
        StateComparison(encoded.rows(1, 3), candidates, chosen[1]),
        StateComparison(encoded.rows(2, 3), candidates, chosen[2]),
    ]
    found = selector.compare(comparisons)
    assert [scores.shape for scores in found] == [(2, 3), (2, 1), (1, 4)]
    for scores, (start, stop), wanted in zip(found, ((0, 2), (1, 3), (2, 3)), chosen, strict=True):
        expected = selector.rank(encoded.rows(start, stop), candidates, np.tile(wanted, (stop - start, 1)))
        np.testing.assert_array_equal(scores, expected)


def test_each_query_is_scored_with_the_candidates_chosen_for_it(selector: OnnxSelector):
    candidates = selector.encode_responses(RESPONSES)
    everything = np.tile(np.arange(len(RESPONSES)), (3, 1))
    scores = selector.score(queries(), candidates, everything)
    chosen = np.array([[5, 0], [2, 2], [1, 3]])
    expected = np.take_along_axis(scores, chosen, 1)
    np.testing.assert_allclose(selector.score(queries(), candidates, chosen), expected, rtol=1e-5, atol=1e-5)


def test_a_persona_changes_the_score(selector: OnnxSelector):
    candidates = selector.encode_responses(RESPONSES)
    everything = np.arange(len(RESPONSES))[None]
    without = Query(queries()[0].context)
    with_one = Query(without.context, ("my dog is my friend",))
    scores = [selector.score([query], candidates, everything) for query in (without, with_one)]
    assert np.abs(scores[0] - scores[1]).max() > 1e-3


def test_the_first_stage_of_a_bi_encoder_is_its_score(made: Path):
    selector = OnnxSelector.from_bundle(made / "bi_encoder")
    candidates = selector.encode_responses(RESPONSES)
    scores = selector.score(queries(), candidates, np.tile(np.arange(len(RESPONSES)), (3, 1)))
    np.testing.assert_allclose(selector.query_vectors(queries()) @ candidates.vectors.T, scores, rtol=1e-5)


def test_no_queries_have_no_scores(selector: OnnxSelector):
    candidates = selector.encode_responses(RESPONSES)
    assert selector.score([], candidates, np.zeros((0, 4), np.int64)).shape == (0, 4)


def test_an_empty_pool_is_refused(selector: OnnxSelector):
    with pytest.raises(AllearsError, match="the pool is empty"):
        selector.encode_responses([])


def test_attention_says_what_each_word_of_a_reply_looks_at(made: Path):
    selector = OnnxSelector.from_bundle(made / "cobert")
    found = selector.attention(queries()[2], "so sorry")
    assert found.reply_tokens == ["[CLS]", "so", "sorry", "[SEP]"]
    assert found.context_tokens == ["[CLS]", "sad", "[SEP]"]
    assert found.context.shape == (4, 3)
    np.testing.assert_allclose(found.context.sum(1), 1, rtol=1e-5)
    assert found.persona is not None
    assert found.persona.shape == (4, len(found.persona_tokens))
    assert selector.attention(queries()[0], "so sorry").persona is None


def test_a_bi_encoder_has_no_attention_to_show(made: Path):
    with pytest.raises(AllearsError, match="a bi_encoder compares whole texts"):
        OnnxSelector.from_bundle(made / "bi_encoder").attention(queries()[0], "so sorry")


def test_scoring_imports_neither_torch_nor_transformers_nor_onnx(made: Path):
    code = f"""
import sys
import numpy as np
from allears.conversation import Role, Turn
from allears.runtime.onnx_selector import OnnxSelector, StateComparison
from allears.runtime.selector import Query
selector = OnnxSelector.from_bundle({str(made / "cobert")!r})
candidates = selector.encode_responses(["so sorry", "great news"])
scores = selector.score([Query((Turn(Role.SEEKER, "my cat is lost"),))], candidates, np.array([[0, 1]]))
assert scores.shape == (1, 2)
print(*[name for name in ("torch", "transformers", "onnx", "faiss", "pandas") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# --- what can be wrong with a bundle


def test_a_folder_without_a_card_is_refused(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"no bundle.json here; make one with `allears export`"):
        OnnxSelector.from_bundle(tmp_path)


def test_a_missing_file_is_named(copy: Path):
    (copy / "encoder.onnx.data.0").unlink()
    with pytest.raises(AllearsError, match=r"encoder.onnx.data.0: this file of the bundle is missing"):
        OnnxSelector.from_bundle(copy)


def test_a_file_cut_short_is_named(copy: Path):
    path = copy / "encoder.onnx.data.0"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(AllearsError, match=r"encoder.onnx.data.0: \d+ bytes instead of \d+"):
        OnnxSelector.from_bundle(copy)


def test_a_changed_byte_is_found_when_asked_to_verify(copy: Path):
    path = copy / "encoder.onnx.data.0"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    OnnxSelector.from_bundle(copy)
    with pytest.raises(AllearsError, match=r"encoder.onnx.data.0: its SHA-256 is wrong"):
        OnnxSelector.from_bundle(copy, verify=True)


def test_a_corrupt_graph_is_one_sentence(copy: Path):
    path = copy / "ranker.onnx"
    path.write_bytes(b"\x00" * path.stat().st_size)
    with pytest.raises(AllearsError, match=r"ranker.onnx: the graph cannot be loaded"):
        OnnxSelector.from_bundle(copy)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not readable as JSON"),
        ("[]", "format None, but this version of allears reads format 1"),
        ('{"format": 99}', "format 99, but this version of allears reads format 1"),
        ('{"format": 1, "name": "cobert"}', "not a bundle's card"),
    ],
)
def test_a_broken_card_is_one_sentence(copy: Path, content: str, problem: str):
    (copy / "bundle.json").write_text(content)
    with pytest.raises(AllearsError, match=problem):
        OnnxSelector.from_bundle(copy)


def test_an_unknown_field_in_a_card_is_one_sentence(copy: Path):
    card = json.loads((copy / "bundle.json").read_text()) | {"mood": "good"}
    (copy / "bundle.json").write_text(json.dumps(card))
    with pytest.raises(AllearsError, match=r"not a bundle's card .*mood"):
        OnnxSelector.from_bundle(copy)


# --- a real encoder, where there is one


@pytest.fixture(scope="module")
def real_encoder() -> Path:
    beside = Path(__file__).parents[3] / "shared" / "models" / "gte-small"
    path = Path(os.environ.get("ALLEARS_ENCODER", beside))
    if not (path / "model.safetensors").is_file():
        pytest.skip("no real encoder: ALLEARS_ENCODER is not set to the folder of one")
    return path


def test_int8_ranks_nearly_as_a_real_encoder_does(real_encoder: Path, tmp_path: Path):
    things = ["dog", "cat", "job", "house", "friend", "exam", "car", "sister", "garden", "phone", "boss"]
    events = ["I lost my {}.", "My {} makes me so happy!", "I worry about my {}.", "I am proud of my {}."]
    contexts = [event.format(thing) for thing in things for event in events]
    replies = [
        reply.format(thing)
        for thing in things
        for reply in (
            "I'm sorry you lost your {}.",
            "How lovely, what a {} that must be!",
            "What worries you about your {}?",
            "You can be proud of your {}.",
        )
    ]
    tokenizer = encoder_tokenizer(real_encoder)
    model = TorchSelector(
        BiEncoder(load_encoder(real_encoder)), ModelCard("bi_encoder", {}, Limits()), tokenizer
    )
    asked = [Query((Turn(Role.SEEKER, text),)) for text in contexts]
    everything = np.tile(np.arange(len(replies)), (len(asked), 1))
    expected = model.score(asked, model.encode_responses(replies), everything)
    card = export(model, tmp_path / "bundle")
    bundle = OnnxSelector.from_bundle(tmp_path / "bundle")
    found = bundle.score(asked, bundle.encode_responses(replies), everything)
    same_top = (found.argmax(1) == expected.argmax(1)).mean()
    assert same_top >= 0.95
    assert np.abs(found - expected).mean() < 0.05 * expected.std()
    assert max(facts.bytes for facts in card.files.values()) <= 20 * 2**20
