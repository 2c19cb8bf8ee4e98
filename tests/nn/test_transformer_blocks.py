"""Blocks of the word models: layers side by side are the same as one by one; word vectors keep their products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from allears.errors import AllearsError
from allears.nn.transformer import Attention, DecoderLayer, Linears, sinusoids
from allears.nn.words import WordEmbedding


def test_layers_side_by_side_are_what_each_is_alone() -> None:
    torch.manual_seed(0)
    many = DecoderLayer(12, 2, 16, 0.0, depth=8, copies=3).eval()
    alone = DecoderLayer(12, 2, 16, 0.0, depth=8).eval()
    with torch.no_grad():
        for parameter in many.parameters():
            parameter.normal_()
    words, source = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    together, _ = many(words, many.begin([source]), [mask])
    for number in range(3):
        alone.load_state_dict({name: value[number : number + 1] for name, value in many.state_dict().items()})
        one, _ = alone(words, alone.begin([source]), [mask])
        torch.testing.assert_close(one[:, 0], together[:, number])


def test_a_row_with_nothing_to_look_at_gets_nothing() -> None:
    attention = Attention(8, 2, 8, 0.0).eval()
    states, source = torch.randn(2, 1, 3, 8), torch.randn(2, 4, 8)
    mask = torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0]])
    found = attention(states, *attention.read(source), mask)
    assert not found[1].any()
    assert found[0].abs().sum() > 0


def test_masked_places_are_not_looked_at() -> None:
    attention = Attention(8, 2, 8, 0.0).eval()
    states, source = torch.randn(1, 1, 3, 8), torch.randn(1, 4, 8)
    mask = torch.tensor([[1, 1, 0, 0]])
    other = source.clone()
    other[:, 2:] = 100.0
    torch.testing.assert_close(
        attention(states, *attention.read(source), mask), attention(states, *attention.read(other), mask)
    )


def test_linear_layers_take_one_input_for_all_or_one_for_each() -> None:
    layers, states = Linears(3, 4, 5), torch.randn(2, 6, 4)
    torch.testing.assert_close(layers(states), layers(states[:, None].expand(-1, 3, -1, -1)))


@pytest.mark.parametrize("size", [7, 8])
def test_every_place_has_its_own_sines(size: int) -> None:
    found = sinusoids(torch.arange(20), size)
    assert found.shape == (20, size)
    assert len({tuple(row) for row in found.tolist()}) == 20


def test_smaller_vectors_are_laid_into_the_space_without_changing_their_products(tmp_path: Path) -> None:
    numbers = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.25]])
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(("tea", "cup"), numbers, strict=True)]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    words = WordEmbedding(4, 10)
    before = words.weight.detach().clone()
    assert words.lay_vectors(["<pad>", "cup", "sofa", "tea"], tmp_path / "vectors.txt") == 2
    laid = words.weight.detach()[[3, 1]]
    torch.testing.assert_close(laid @ laid.T, torch.tensor(numbers @ numbers.T, dtype=torch.float32))
    torch.testing.assert_close(words.weight.detach()[[0, 2]], before[[0, 2]])
    with pytest.raises(AllearsError, match="the vectors have 3 numbers, but the model's words only 2"):
        WordEmbedding(4, 2).lay_vectors(["a", "b", "c", "d"], tmp_path / "vectors.txt")
