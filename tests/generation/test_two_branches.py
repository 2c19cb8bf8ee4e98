"""Equation 6 of PAL: its very logits, the strategy's alpha, and every search with it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from decoding_models import END, CachedDecoder, Chain
from hypothesis import given, settings
from hypothesis import strategies as st

from allears.decoding import (
    PAL_ALPHAS,
    AlphaTable,
    TwoBranches,
    beam_search,
    begin_with,
    diverse_beam_search,
    greedy,
    interleaved,
    sample,
)
from allears.decoding.two_branches import branch_weights, contrasted
from allears.errors import AllearsError
from allears.labels import STRATEGIES

ALPHAS = {1: 0.0, 2: 0.75, 3: 0.375}  # the chain's first words are its strategies
SEARCHES = [
    greedy,
    partial(beam_search, width=3),
    diverse_beam_search,
    partial(sample, seed=5, count=2),
]


class Two:
    """A chain that knows the persona and one that does not, as one model of interleaved rows."""

    def __init__(self, seed: int, library: Any = np):
        self.informed = Chain(seed, words=7, library=library)
        self.plain = Chain(seed + 1000, words=7, library=library)
        self.batches: list[int] = []

    def begin(self, rows: int) -> tuple[Any, Any]:
        state, start = self.informed.begin(rows)
        return interleaved(state, state), start

    def step(self, tokens: Any, state: Any) -> Any:
        self.batches.append(len(tokens))
        logits, state = self.informed.step(tokens, state)
        past = state[0][1::2, -2], state[0][1::2, -1]
        logits = logits.clone() if isinstance(logits, torch.Tensor) else logits.copy()
        logits[1::2] = self.plain.table[past]
        return logits, state

    def combined(self, tokens: tuple[int, ...]) -> np.ndarray:
        """Equation 6 by hand, after a prefix; the strategy is its first token."""
        alpha = ALPHAS.get(tokens[0], 0.0) if tokens else 0.0
        return (1 + alpha) * self.informed.logits(tokens) - alpha * self.plain.logits(tokens)


class Alone:
    """The combined logits as a plain model, which computes everything anew from its prefix."""

    def __init__(self, two: Two):
        self.two = two

    def step(self, tokens: Any, state: Any) -> Any:
        past = np.concatenate([state[0], tokens[:, None]], axis=1)
        # the first two columns are the start
        return np.stack([self.two.combined(tuple(map(int, row[2:]))) for row in past]), (past,)


@given(st.integers(0, 500), st.lists(st.integers(1, 6), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_the_logits_are_those_of_equation_6(seed: int, prefix: list[int]) -> None:
    for library in (np, torch):
        two = Two(seed, library)
        branches = TwoBranches(two.step, ALPHAS)
        state, start = two.begin(2)
        now = branches.begin(state, start)
        logits, now = branches.step(start, now)
        np.testing.assert_array_equal(np.asarray(logits)[0], two.combined(()))
        # a strategy stands only in front
        words = [prefix[0], *(5 if word in ALPHAS else word for word in prefix[1:])]
        for place, word in enumerate(words, 1):
            logits, now = branches.step(start * 0 + word, now)
            np.testing.assert_allclose(np.asarray(logits)[1], two.combined(tuple(words[:place])), rtol=1e-12)


def test_log_probabilities_would_give_the_same_choice() -> None:
    """Equation 6 is written with probabilities; their logarithms differ from logits by one number per row."""
    first, second = np.random.default_rng(0).normal(size=(2, 3, 8))
    alphas = [0.0, 0.375, 0.75]

    def softmax(values: np.ndarray) -> np.ndarray:
        return np.exp(values) / np.exp(values).sum(axis=-1, keepdims=True)

    ratio = softmax(first) * (softmax(first) / softmax(second)) ** np.array(alphas)[:, None]
    np.testing.assert_allclose(
        softmax(contrasted(first, second, alphas)), ratio / ratio.sum(axis=-1, keepdims=True)
    )


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(8))
def test_every_search_works_with_it(seed: int, search: Any) -> None:
    two = Two(seed)
    branches = TwoBranches(two.step, ALPHAS)
    state, start = two.begin(3)
    options: dict[str, Any] = {"end": END, "limit": 6, "processors": [begin_with(ALPHAS)]}
    ours = search(branches.step, branches.begin(state, start), start, reorder=branches.reorder, **options)
    plain_state, plain_start = two.informed.begin(3)
    plain = search(Alone(two).step, plain_state, plain_start, **options)
    assert str(ours) == str(plain)  # tokens and scores
    assert all(batch % 2 == 0 for batch in two.batches)  # both branches in one batch


@pytest.mark.parametrize("search", SEARCHES)
def test_a_model_that_mixes_its_own_rows_writes_the_same(search: Any) -> None:
    two = Two(4)
    mixed: list[tuple[int, ...]] = []

    def mixed_step(tokens: Any, state: Any, mix: Any) -> Any:
        mixed.append(mix.shape)
        logits, state = two.step(tokens, state)
        return mix @ logits, state

    found = []
    for own in (None, mixed_step):
        branches = TwoBranches(two.step, ALPHAS, mixed_step=own)
        state, start = two.begin(3)
        options: dict[str, Any] = {"end": END, "limit": 6, "processors": [begin_with(ALPHAS)]}
        written = search(
            branches.step, branches.begin(state, start), start, reorder=branches.reorder, **options
        )
        rows = [each if isinstance(each, list) else [each] for each in written]
        found.append([[one.tokens for one in row] for row in rows])
    assert found[0] == found[1]
    assert mixed
    assert all(columns == 2 * rows for rows, columns in mixed)


def test_the_weights_of_both_branches_are_those_of_equation_6() -> None:
    logits = np.random.default_rng(1).normal(size=(6, 9)).astype(np.float32)
    alphas = [0.0, 0.375, 5.0]
    found = branch_weights(alphas) @ logits
    np.testing.assert_allclose(found, contrasted(logits[0::2], logits[1::2], alphas), atol=1e-5)
    assert (found[0] == logits[0]).all()


def test_numpy_and_torch_agree() -> None:
    found = []
    for library in (np, torch):
        two = Two(3, library)
        branches = TwoBranches(two.step, ALPHAS)
        state, start = two.begin(4)
        options: dict[str, Any] = {"end": END, "limit": 6, "processors": [begin_with(ALPHAS)]}
        written = sample(
            branches.step, branches.begin(state, start), start, seed=1, reorder=branches.reorder, **options
        )
        found.append([each.tokens for row in written for each in row])
    assert found[0] == found[1]


def test_batch_mates_with_other_strategies_change_nothing() -> None:
    two = Two(1)
    branches = TwoBranches(two.step, ALPHAS)

    def prescribed(strategies: list[int]) -> Any:
        """The strategy is given: the first token goes through the step, the search starts with the strategy."""
        state, start = two.begin(len(strategies))
        _, now = branches.step(start, branches.begin(state, start))
        return greedy(branches.step, now, np.array(strategies), end=END, limit=6, reorder=branches.reorder)

    together = prescribed([1, 2, 3])
    assert together == [prescribed([strategy])[0] for strategy in (1, 2, 3)]


def test_without_alpha_it_is_the_branch_with_persona() -> None:
    two = Two(2)
    branches = TwoBranches(two.step, dict.fromkeys(ALPHAS, 0.0))
    state, start = two.begin(2)
    found = greedy(
        branches.step, branches.begin(state, start), start, end=END, limit=6, reorder=branches.reorder
    )
    assert found == greedy(two.informed.step, *two.informed.begin(2), end=END, limit=6)


def test_with_a_cache_it_writes_what_two_separate_models_would() -> None:
    torch.manual_seed(0)
    model = CachedDecoder(words=12).eval()
    persona, none = torch.randn(3, model.size), torch.randn(3, model.size)
    branches = TwoBranches(model.step, ALPHAS)
    start = model.begin(3)
    state = interleaved(model.empty_cache(persona), model.empty_cache(none))

    def separately(tokens: Any, state: Any) -> Any:
        alphas, informed, plain = state
        alphas = torch.tensor(
            [ALPHAS.get(int(token), float(old)) for token, old in zip(tokens, alphas, strict=True)]
        )
        first, informed = model.step_anew(tokens, informed)
        second, plain = model.step_anew(tokens, plain)
        return first + alphas[:, None] * (first - second), (alphas, informed, plain)

    def reorder(state: Any, rows: Any) -> Any:
        return (
            state[0][list(rows)],
            *(tuple(part[list(rows)] for part in branch) for branch in state[1:]),
        )

    options: dict[str, Any] = {"end": END, "limit": 20, "width": 3, "processors": [begin_with(ALPHAS)]}
    ours = beam_search(
        branches.step, branches.begin(state, start), start, reorder=branches.reorder, **options
    )
    theirs = beam_search(
        separately,
        (torch.zeros(3), model.no_tokens(persona), model.no_tokens(none)),
        start,
        reorder=reorder,
        **options,
    )
    assert [each.tokens for each in ours] == [each.tokens for each in theirs]


def test_what_a_branch_rules_out_gives_no_nonsense() -> None:
    for library in (np.asarray, torch.tensor):
        informed, plain = library([[1.0, -np.inf, 2.0, -np.inf]]), library([[0.5, -np.inf, -np.inf, 1.0]])
        found = contrasted(informed, plain, [0.75])
        assert np.asarray(found).tolist() == [[1.375, -np.inf, 2.0, -np.inf]]


def test_the_paper_s_table_has_every_strategy_of_esconv() -> None:
    assert set(PAL_ALPHAS.by_strategy) == set(STRATEGIES)
    levels = {0.0: 3, 0.375: 1, 0.75: 4}
    assert {level: list(PAL_ALPHAS.by_strategy.values()).count(level) for level in levels} == levels
    assert PAL_ALPHAS.of("Providing Suggestions") == 0.75
    assert "Table 2" in PAL_ALPHAS.source


def test_the_table_can_be_changed_and_stays_as_it_was() -> None:
    other = PAL_ALPHAS.changed({"Question": 0.5})
    assert (other.of("Question"), PAL_ALPHAS.of("Question")) == (0.5, 0.0)
    assert other.of("Others") == 0.375
    assert set(PAL_ALPHAS.all(0.0).by_strategy.values()) == {0.0}
    assert PAL_ALPHAS.by_token({"Question": 7, "Others": 9}) == {7: 0.0, 9: 0.375}


@pytest.mark.parametrize("alpha", [-0.1, 5.1, float("nan"), float("inf")])
def test_an_alpha_out_of_range_is_one_clear_sentence(alpha: float) -> None:
    with pytest.raises(AllearsError, match=r"the alpha of 'Question' is .* between 0 and 5"):
        PAL_ALPHAS.changed({"Question": alpha})
    with pytest.raises(AllearsError, match="between 0 and 5"):
        AlphaTable({"mine": alpha}, "a test")


def test_an_unknown_strategy_is_one_clear_sentence() -> None:
    for call in (
        lambda: PAL_ALPHAS.of("Scolding"),
        lambda: PAL_ALPHAS.changed({"Scolding": 0.1}),
        lambda: PAL_ALPHAS.by_token({"Scolding": 1}),
    ):
        with pytest.raises(AllearsError, match=r"no strategy 'Scolding'; there are: Question, "):
            call()
