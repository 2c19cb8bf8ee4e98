"""Word embeddings that start from published vectors, and words known by their spelling."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from allears.errors import AllearsError
from allears.models.selection.dim import DIM
from allears.nn.words import WordEmbedding

WORDS = ["<pad>", "<start>", "<end>", "<unknown>", "kind", "kindness"]


def test_known_words_take_their_vector_and_the_others_keep_their_start(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("kind 1 2 3\nelsewhere 4 5 6\n")
    embedding = WordEmbedding(len(WORDS), 3)
    before = embedding.weight.detach().clone()
    assert embedding.load_vectors(WORDS, tmp_path / "vectors.txt") == 1
    assert embedding.weight[4].tolist() == [1.0, 2.0, 3.0]
    assert torch.equal(embedding.weight[[0, 1, 2, 3, 5]], before[[0, 1, 2, 3, 5]])


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AllearsError, match="the vocabulary has 2 words, but the model was built for 6"):
        WordEmbedding(6, 3).load_vectors(["a", "b"], tmp_path / "none.txt")
    with pytest.raises(AllearsError, match="the vocabulary has 2 words, but the model was built for 6"):
        DIM(vocabulary_size=6).set_words(["a", "b"])


def test_spellings_are_saved_with_the_weights() -> None:
    model, other = (DIM(vocabulary_size=len(WORDS), hidden_size=4, word_length=6) for _ in range(2))
    model.set_words(WORDS)
    assert model.spelling.characters[4].tolist() == [ord(letter) - 32 for letter in "kind"] + [0, 0]
    assert model.spelling.characters[5].tolist() == [ord(letter) - 32 for letter in "kindne"]
    other.load_state_dict(model.state_dict())
    ids = torch.tensor([[4, 5], [3, 4]])
    assert torch.equal(other.spelling(ids), model.spelling(ids))
    assert torch.equal(model.spelling(ids)[0, 0], model.spelling(ids)[1, 1]), (
        "the same word, the same features"
    )


def test_letters_beyond_ascii_are_one_kind_of_their_own() -> None:
    model = DIM(vocabulary_size=2, hidden_size=4, word_length=5)
    model.set_words(["né~", "!"])
    assert model.spelling.characters.tolist() == [[78, 95, 94, 0, 0], [1, 0, 0, 0, 0]]
