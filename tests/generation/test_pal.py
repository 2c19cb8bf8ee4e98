"""PAL's reading, equation by equation, and its two branches."""

from __future__ import annotations

import pytest
import torch
from generator_models import dataset_for, small_generator, talks
from torch import Tensor

from allears.decoding import PAL_ALPHAS, TwoBranches, greedy, interleaved
from allears.errors import AllearsError
from allears.models.generation.pal import PAL
from allears.nn.inputs import Inputs


def inputs(lengths: list[int], longest: int, seed: int) -> Inputs:
    torch.manual_seed(seed)
    mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(4, 40, (len(lengths), longest)) * mask
    return Inputs(ids, mask, torch.zeros_like(ids))


def slowly(model: PAL, dialogue: Tensor, known: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Equations 2 to 4 for one example without padding, token by token: what stands at the dialogue's and at the
    persona's places."""

    def look(query: Tensor, states: Tensor) -> Tensor:
        scores = [float(query @ state) for state in states]
        top = max(scores)
        shares = [torch.tensor(score - top, dtype=torch.float64).exp() for score in scores]
        total = sum(shares)
        return sum((share / total).float() * state for share, state in zip(shares, states, strict=True))

    w = model.weights.exp()
    first, second, third = (each / w.sum() for each in w)
    of_dialogue = [
        first * model.dialogue_norm(state + look(state, known)) + third * state for state in dialogue
    ]
    of_persona = [second * model.persona_norm(state + look(state, dialogue)) for state in known]
    return of_dialogue, of_persona


@pytest.fixture
def model(tmp_path) -> PAL:
    return small_generator(tmp_path).module.eval()


def test_equations_2_to_4_are_those_of_a_slow_loop(model):
    context, persona = inputs([5, 3], 5, 0), inputs([2, 4], 4, 1)
    dialogue, known = torch.randn(2, 5, 32), torch.randn(2, 4, 32)
    memory = model.mix(dialogue, known, context, persona)
    for row, (said, told) in enumerate([(5, 2), (3, 4)]):
        of_dialogue, of_persona = slowly(model, dialogue[row, :said], known[row, :told])
        torch.testing.assert_close(memory.states[row, :said], torch.stack(of_dialogue), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(
            memory.states[row, 6 : 6 + told], torch.stack(of_persona), atol=1e-5, rtol=1e-4
        )
        real = [1] * said + [0] * (6 - said) + [1] * told + [0] * (4 - told)
        assert memory.mask[row].tolist() == real


def test_aligned_adds_token_to_token_as_the_authors_do(tmp_path):
    model = small_generator(tmp_path, mixture="aligned").module.eval()
    context, persona = inputs([5, 3], 5, 0), inputs([2, 6], 6, 1)
    dialogue, known = torch.randn(2, 5, 32), torch.randn(2, 6, 32)
    memory = model.mix(dialogue, known, context, persona)
    assert memory.states.shape == (2, 5, 32)
    of_dialogue, of_persona = slowly(model, dialogue[0], known[0, :2])
    torch.testing.assert_close(memory.states[0, 1], of_dialogue[1] + of_persona[1], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(memory.states[0, 4], of_dialogue[4], atol=1e-5, rtol=1e-4)


def test_the_three_weights_start_alike(tmp_path):
    from generator_models import talk_config

    from allears.models.generation.writer import SmallDecoder
    from allears.nn.encoder import Encoder

    encoder = Encoder.from_config(talk_config(50))
    model = PAL(encoder, SmallDecoder(encoder, layers=1, heads=4))
    assert model.weights.softmax(0).tolist() == pytest.approx([1 / 3] * 3)


def test_whom_nothing_is_known_of_is_read_as_the_dialogue_alone(model):
    context = inputs([5, 3], 5, 0)
    nobody = Inputs(*(torch.zeros(2, 3, dtype=torch.long) for _ in range(3)))
    plain, empty = model.read(context), model.read(context, nobody)
    torch.testing.assert_close(empty.states[:, :5], plain.states)
    assert not empty.mask[:, 5:].any()


def test_the_branch_without_persona_is_that_of_a_prompt_without_one(model):
    context, persona = inputs([5, 3], 5, 0), inputs([4, 2], 4, 1)
    known, unknown = model.branches(context, persona)
    torch.testing.assert_close(known.states, model.read(context, persona).states)
    torch.testing.assert_close(unknown.states[:, :5], model.read(context).states)
    assert not torch.allclose(known.states[:, :5], unknown.states[:, :5])
    assert known.states.shape == unknown.states.shape


def test_two_branches_with_alpha_0_write_what_plain_decoding_writes(tmp_path):
    generator = small_generator(tmp_path)
    model = generator.module.eval()
    batch = dataset_for(generator, talks(5)).batch(range(5))
    decoder = model.decoder
    with torch.inference_mode():
        table = decoder.table(model.encoder)

        def step(tokens, state):
            return decoder.step(tokens, state, table)

        start = torch.full((5,), decoder.start)
        plain = greedy(
            step,
            tuple(decoder.begin(model.read(batch.context, batch.persona), table)),
            start,
            end=3,
            limit=12,
        )
        both = [decoder.begin(memory, table) for memory in model.branches(batch.context, batch.persona)]
        branches = TwoBranches(step, PAL_ALPHAS.all(0).by_token(decoder.strategy_tokens))
        state = branches.begin(interleaved(*both), start)
        twice = greedy(branches.step, state, start, end=3, limit=12, reorder=branches.reorder)
    assert [each.tokens for each in twice] == [each.tokens for each in plain]
    assert [each.score for each in twice] == pytest.approx([each.score for each in plain], abs=1e-4)


def test_an_unknown_mixture_is_one_sentence(tmp_path):
    with pytest.raises(AllearsError, match="one of joined, aligned; got 'stirred'"):
        small_generator(tmp_path, mixture="stirred")
