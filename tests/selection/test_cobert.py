"""CoBERT against a slow transcription of the paper's equations 1 to 6, one number at a time."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from allears.errors import AllearsError
from allears.models.selection.cobert import CoBERT
from allears.nn.inputs import Encoded

Matrix = list[list[float]]
SIZE = 6  # d
ENCODER: Any = SimpleNamespace(size=SIZE)  # these tests start from token states; no encoder runs
ABLATIONS = [
    {"hops": (1, 2)},
    {"hops": (1,)},
    {"hops": (2,)},
    {"hops": (1, 2, 3)},
    {"poolings": ("mean",)},
    {"poolings": ("max", "mean")},
]


def product(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def softmax_rows(a: Matrix) -> Matrix:
    raised = [[math.exp(value - max(row)) for value in row] for row in a]
    return [[value / sum(row) for value in row] for row in raised]


def column_means(a: Matrix) -> list[float]:
    return [sum(column) / len(column) for column in transposed(a)]


def column_maxima(a: Matrix) -> list[float]:
    return [max(column) for column in transposed(a)]


def match(
    X: Matrix, Y: Matrix, hops: tuple[int, ...], poolings: tuple[str, ...]
) -> tuple[list[float], list[float]]:
    """The parts of X_f and Y_f that one side contributes, concatenated."""
    A = product(X, transposed(Y))  # equation 1
    X2Y = softmax_rows(A)  # equation 2
    Y2X = softmax_rows(transposed(A))  # equation 3
    pools = {"max": column_maxima, "mean": column_means}
    x_final: list[float] = []
    y_final: list[float] = []
    if 1 in hops:
        for pooling in poolings:
            x_final += pools[pooling](product(X2Y, Y))
            y_final += pools[pooling](product(Y2X, X))
    attention_x = product([column_means(X2Y)], Y2X)  # equation 4
    attention_y = product([column_means(Y2X)], X2Y)  # equation 5
    if 2 in hops:
        x_final += product(attention_x, X)[0]
        y_final += product(attention_y, Y)[0]
    if 3 in hops:
        attention_x, attention_y = product(attention_y, Y2X), product(attention_x, X2Y)
        x_final += product(attention_x, X)[0]
        y_final += product(attention_y, Y)[0]
    return x_final, y_final


def slow_score(
    X: Matrix,
    P: Matrix | None,
    Y: Matrix,
    *,
    hops: tuple[int, ...] = (1, 2),
    poolings: tuple[str, ...] = ("max",),
) -> float:
    x_final, y_final = match(X, Y, hops, poolings)
    if P is not None:
        p_part, y_part = match(P, Y, hops, poolings)
        x_final, y_final = x_final + p_part, y_final + y_part
    return sum(x * y for x, y in zip(x_final, y_final, strict=True))  # equation 6


def texts(*lengths: int, seed: int) -> Encoded:
    """States [N, longest, d] with noise where a shorter text is padded."""
    torch.manual_seed(seed)
    mask = torch.tensor(
        [[position < length for position in range(max(lengths))] for length in lengths]
    ).long()
    return Encoded(states=torch.randn(*mask.shape, SIZE), mask=mask)


def matrix(encoded: Encoded, row: int) -> Matrix:
    return encoded.states[row, : int(encoded.mask[row].sum())].tolist()


CONTEXTS = texts(7, 3, 5, seed=1)
PERSONAS = texts(4, 6, 1, seed=2)
RESPONSES = texts(2, 5, 1, 4, seed=3)


def slow_scores(persona: Encoded | None, **options: Any) -> Tensor:
    return torch.tensor(
        [
            [
                slow_score(
                    matrix(CONTEXTS, b),
                    None if persona is None else matrix(persona, b),
                    matrix(RESPONSES, c),
                    **options,
                )
                for c in range(len(RESPONSES.mask))
            ]
            for b in range(len(CONTEXTS.mask))
        ]
    )


@pytest.mark.parametrize("options", ABLATIONS, ids=str)
@pytest.mark.parametrize("persona", [None, PERSONAS], ids=["no persona", "persona"])
def test_scores_equal_the_papers_equations(options: dict[str, Any], persona: Encoded | None) -> None:
    scores = CoBERT(ENCODER, **options).score(CONTEXTS, persona, RESPONSES[None])
    torch.testing.assert_close(scores, slow_scores(persona, **options), atol=1e-4, rtol=1e-4)


def test_the_defaults_are_the_papers_model() -> None:
    model = CoBERT(ENCODER)
    assert (model.hops, model.poolings, model.similarity) == ((1, 2), ("max",), "dot")
    assert not list(model.parameters()), "the equations have no parameters beside the encoder's"


@pytest.mark.parametrize("options", ABLATIONS, ids=str)
def test_every_ablation_scores_differently_from_the_full_model(options: dict[str, Any]) -> None:
    full = CoBERT(ENCODER).score(CONTEXTS, PERSONAS, RESPONSES[None])
    ablated = CoBERT(ENCODER, **options).score(CONTEXTS, PERSONAS, RESPONSES[None])
    assert torch.allclose(full, ablated) == (options == {"hops": (1, 2)})


@pytest.mark.parametrize("options", [{"hops": (0,)}, {"hops": ()}, {"poolings": ("median",)}], ids=str)
def test_hops_and_poolings_that_do_not_exist_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(AllearsError, match=f"unknown {next(iter(options))}"):
        CoBERT(ENCODER, **options)


def test_a_temperature_divides_the_affinity() -> None:
    # dividing X Yᵀ by 4 is the same as halving all states, but for the states that are then attended to
    halved = [part.map(lambda t: t / 2 if t.is_floating_point() else t) for part in (CONTEXTS, RESPONSES)]
    warm = CoBERT(ENCODER, temperature=4.0).score(CONTEXTS, None, RESPONSES[None])
    plain = CoBERT(ENCODER).score(halved[0], None, halved[1][None])
    torch.testing.assert_close(warm, plain * 4)


def test_the_pooled_score_is_added_on_top() -> None:
    def with_vectors(encoded: Encoded, seed: int) -> Encoded:
        torch.manual_seed(seed)
        return Encoded(vector=torch.randn(len(encoded.mask), SIZE), states=encoded.states, mask=encoded.mask)

    context, response = with_vectors(CONTEXTS, 7), with_vectors(RESPONSES, 8)
    scores = CoBERT(ENCODER, pooled=True, scale=3.0).score(context, None, response[None])
    expected = slow_scores(None) + 3.0 * context.vector @ response.vector.T
    torch.testing.assert_close(scores, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("own", [False, True], ids=["shared candidates", "own candidates"])
def test_chunks_give_the_same_scores_and_gradients(own: bool) -> None:
    outcomes = []
    for chunk_pairs in (16_384, 0):  # all at once, then one candidate at a time
        sides = [part.map(lambda t: t.clone()) for part in (CONTEXTS, PERSONAS, RESPONSES)]
        for part in sides:
            part.states.requires_grad_()
        context, persona, response = sides
        candidates = response[torch.tensor([[0, 1, 2], [3, 2, 0], [1, 3, 3]])] if own else response[None]
        scores = CoBERT(ENCODER, chunk_pairs=chunk_pairs).score(context, persona, candidates)
        scores.logsumexp(-1).sum().backward()
        outcomes.append([scores.detach(), *(part.states.grad for part in sides)])
    for whole, chunked in zip(*outcomes, strict=True):
        torch.testing.assert_close(chunked, whole)


def test_chunks_keep_only_scores_for_the_backward_pass() -> None:
    """What checkpointing is for: no large tensor is held between the two passes."""

    def kept(chunk_pairs: int) -> int:
        sizes: list[int] = []

        def note(tensor: Tensor) -> Tensor:
            sizes.append(tensor.numel())
            return tensor

        context = CONTEXTS.map(lambda t: t.clone().requires_grad_() if t.is_floating_point() else t)
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            CoBERT(ENCODER, chunk_pairs=chunk_pairs).score(context, None, RESPONSES[None])
        return sum(sizes)

    assert kept(chunk_pairs=0) < kept(chunk_pairs=16_384) / 10
