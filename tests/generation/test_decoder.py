"""The decoder: its cache, its padding, what it copies, and what it leaves alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from allears.nn.decoder import TASKS, Decoder, DecoderState

SIZE, WORDS = 24, 30


@pytest.fixture
def decoder() -> Decoder:
    torch.manual_seed(0)
    return Decoder(SIZE, WORDS, layers=3, heads=4, longest=12).eval()


@pytest.fixture
def table() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(WORDS, SIZE)


def begin(decoder: Decoder, table: Tensor, *, padding: int = 0, rows: int = 3) -> DecoderState:
    torch.manual_seed(2)
    states, ids = torch.randn(3, 6, SIZE), torch.randint(WORDS, (3, 6))
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 2 + [0] * 4])
    states, ids, mask = states[:rows], ids[:rows], mask[:rows]
    if padding:
        states = torch.cat([states, torch.full((rows, padding, SIZE), 7.0)], 1)
        ids, mask = (
            torch.nn.functional.pad(ids, (0, padding), value=3),
            torch.nn.functional.pad(mask, (0, padding)),
        )
    return decoder.start(states, ids, mask, table)


def tokens(decoder: Decoder, count: int = 7) -> Tensor:
    torch.manual_seed(3)
    return torch.cat(
        [torch.full((3, 1), decoder.task_token("persona")), torch.randint(WORDS, (3, count - 1))], 1
    )


def step_by_step(decoder: Decoder, table: Tensor, state: DecoderState, given: Tensor) -> Tensor:
    found = []
    for column in given.unbind(1):
        likely, state = decoder.step(column, state, table)
        found.append(likely)
    return torch.stack(found, 1)


def whole(decoder: Decoder, table: Tensor, state: DecoderState, given: Tensor) -> Tensor:
    """log P [B, T, V] without a cache, from the likelihood of each word."""
    columns = [decoder.likelihood(given, torch.full_like(given, word), state, table) for word in range(WORDS)]
    return torch.stack(columns, -1)


def test_cached_steps_give_what_one_pass_gives(decoder: Decoder, table: Tensor) -> None:
    state, given = begin(decoder, table), tokens(decoder)
    torch.testing.assert_close(
        step_by_step(decoder, table, state, given), whole(decoder, table, state, given), atol=1e-5, rtol=0
    )


def test_probabilities_add_up_to_one(decoder: Decoder, table: Tensor) -> None:
    likely, _ = decoder.step(tokens(decoder)[:, 0], begin(decoder, table), table)
    torch.testing.assert_close(likely.exp().sum(-1), torch.ones(3))


def test_padding_of_the_source_changes_nothing(decoder: Decoder, table: Tensor) -> None:
    given = tokens(decoder)
    short, long = (
        step_by_step(decoder, table, begin(decoder, table, padding=padding), given) for padding in (0, 5)
    )
    torch.testing.assert_close(short, long, atol=1e-5, rtol=0)


def test_batch_mates_change_nothing(decoder: Decoder, table: Tensor) -> None:
    given = tokens(decoder)
    together = step_by_step(decoder, table, begin(decoder, table), given)
    alone = step_by_step(decoder, table, begin(decoder, table, rows=1), given[:1])
    torch.testing.assert_close(together[:1], alone, atol=1e-5, rtol=0)


def test_what_comes_later_changes_nothing_before_it(decoder: Decoder, table: Tensor) -> None:
    state, given = begin(decoder, table), tokens(decoder)
    other = given.clone()
    other[:, 4:] = (other[:, 4:] + 1) % WORDS
    targets = given.roll(-1, 1) % WORDS
    first, second = (decoder.likelihood(each, targets, state, table) for each in (given, other))
    torch.testing.assert_close(first[:, :4], second[:, :4])
    assert not torch.allclose(first[:, 4:], second[:, 4:])


def test_a_decoder_that_only_points_writes_the_sources_words(decoder: Decoder, table: Tensor) -> None:
    with torch.no_grad():
        decoder.switch.weight.zero_()
        decoder.switch.bias.fill_(-40.0)
    state = begin(decoder, table)
    likely, _ = decoder.step(tokens(decoder)[:, 0], state, table)
    for row in range(3):
        said = set(state.ids[row][state.mask[row].bool()].tolist())
        written = set(torch.nonzero(likely[row].exp() > 1e-9).flatten().tolist())
        assert written == said


def test_the_task_token_decides_what_is_written(decoder: Decoder, table: Tensor) -> None:
    state = begin(decoder, table)
    first, second = (
        decoder.step(torch.full((3,), decoder.task_token(task)), state, table)[0] for task in TASKS
    )
    assert not torch.allclose(first, second)


def test_the_word_embeddings_are_shared_but_not_trained_from_here(decoder: Decoder, table: Tensor) -> None:
    table.requires_grad_()
    given = tokens(decoder)
    decoder.likelihood(given, given.roll(-1, 1) % WORDS, begin(decoder, table), table).sum().backward()
    assert table.grad is None
    trained = {name for name, each in decoder.named_parameters() if each.grad is not None}
    assert trained == {name for name, _ in decoder.named_parameters()}


def test_several_tokens_in_the_middle_are_refused(decoder: Decoder, table: Tensor) -> None:
    given = tokens(decoder)
    _, state = decoder.step(given[:, 0], begin(decoder, table), table)
    with pytest.raises(ValueError, match="at the beginning"):
        decoder.distribution(given[:, 1:], state, table)
