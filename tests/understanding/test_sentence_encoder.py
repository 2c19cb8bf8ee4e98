"""Sentences as vectors: by an encoder, by word vectors."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.models.reader.sentence_encoder import OnnxSentences, WordAverage, similarity_by
from allears.models.reader.sentence_loading import load_sentence_encoder, load_token_encoder
from allears.text.vectors import vector_size

VECTORS = "tea 1 0\ncoffee 0.8 0.6\nrain 0 1\n"


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(VECTORS.encode()))
    return path


def test_a_sentence_is_the_mean_of_its_words_at_length_one(glove: Path):
    encoder = load_sentence_encoder(glove)
    assert isinstance(encoder, WordAverage)
    found = encoder.vectors(["Tea!", "tea and rain", "nothing known", ""])
    assert np.allclose(found, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 0], [0, 0]])


def test_similarity_is_a_cosine_to_each_of_the_others(glove: Path):
    similarity = similarity_by(load_sentence_encoder(glove))
    assert similarity("tea", ["tea", "coffee", "rain"]) == pytest.approx([1, 0.8, 0])


def test_the_size_of_vectors_is_the_files(glove: Path, tmp_path: Path):
    assert vector_size(glove) == 2
    (tmp_path / "f.vec").write_text(f"3 2\n{VECTORS}")
    assert vector_size(tmp_path / "f.vec") == 2
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(AllearsError, match="line 1: expected a word and its numbers"):
        vector_size(tmp_path / "empty.txt")
    with pytest.raises(AllearsError, match="cannot be read"):
        vector_size(tmp_path / "nowhere.txt")


def test_word_vectors_have_no_token_states(glove: Path):
    with pytest.raises(AllearsError, match="word vectors do not know their sentence"):
        load_token_encoder(glove)


def test_an_encoder_gives_the_same_vectors_in_any_batch(tiny_encoder: Path):
    encoder = load_token_encoder(tiny_encoder)
    texts = ["my cat", "a much longer sentence about rain", "", "my cat"]
    found = encoder.vectors(texts)
    assert np.allclose(found[0], found[3], atol=1e-5)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(encoder.vectors(["my cat"])[0], found[0], atol=1e-5)
    states = encoder.states(texts)
    assert [state.shape[1] for state in states] == [16] * 4
    assert len(states[2]) == 0  # without the marks at its ends an empty text has no token
    assert np.allclose(states[0], states[3], atol=1e-5)


def test_an_encoder_that_is_not_there_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match="cannot be loaded"):
        load_sentence_encoder(tmp_path / "nowhere")


def test_a_bundle_needs_no_torch_and_gives_the_exported_encoders_vectors(tmp_path: Path):
    from allears.training.export.ranker import export
    from tiny_models import tiny_selector

    model = tiny_selector(tmp_path / "run", "bi_encoder")
    export(model, tmp_path / "bundle", precision="float32")
    encoder = load_token_encoder(tmp_path / "bundle")
    assert isinstance(encoder, OnnxSentences)
    found = encoder.vectors(["my cat is lost.", "great news!"])
    expected = model.encode_responses(["my cat is lost.", "great news!"]).vector.numpy()
    expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    # a response is read as the supporter's; segments apart, it is the same encoder
    assert (found @ expected.T).argmax(axis=1).tolist() == [0, 1]
    assert [len(states) for states in encoder.states(["my cat is lost.", ""])] == [5, 0]
    assert encoder.vectors([]).shape[0] == 0
