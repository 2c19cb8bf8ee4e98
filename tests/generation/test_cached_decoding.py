"""A cache changes the time it takes, never what is written; and the searches agree with Hugging Face's."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from decoding_models import END, CachedDecoder
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from allears.decoding import (
    beam_search,
    diverse_beam_search,
    greedy,
    no_repeated_ngrams,
    repetition_penalty,
    sample,
    temperature,
    top_k,
    top_p,
)

SEARCHES: dict[str, Any] = {
    "greedy": greedy,
    "beam": partial(beam_search, width=4),
    "diverse": diverse_beam_search,
    "sample": partial(sample, seed=2, count=2, warps=[temperature(0.7), top_k(10), top_p(0.9)]),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_cached_equals_uncached_token_for_token(name: str) -> None:
    torch.manual_seed(0)
    model = CachedDecoder().eval()
    context = torch.randn(5, model.size)
    options: dict[str, Any] = {"end": END, "limit": 40, "processors": [no_repeated_ngrams(3)]}
    search = SEARCHES[name]
    cached = search(model.step, model.empty_cache(context), model.begin(5), **options)
    anew = search(model.step_anew, model.no_tokens(context), model.begin(5), **options)
    flat = [_flat(cached), _flat(anew)]
    assert [each.tokens for each in flat[0]] == [each.tokens for each in flat[1]]
    assert [each.score for each in flat[0]] == pytest.approx([each.score for each in flat[1]], abs=1e-3)
    assert max(len(each.tokens) for each in flat[0]) > 10


@pytest.mark.parametrize("name", SEARCHES)
def test_half_precision_and_gradients_are_no_obstacle(name: str) -> None:
    torch.manual_seed(0)
    table = torch.randn(31, 30, requires_grad=True)
    options: dict[str, Any] = {"end": END, "limit": 8}

    def run(dtype: torch.dtype) -> Any:
        # both from the same coarse numbers, so that only the search's own precision could differ
        def step(tokens: Tensor, state: Any) -> Any:
            return table[tokens].to(torch.bfloat16).to(dtype), state

        start = torch.full((2,), 30)
        return _flat(SEARCHES[name](step, (start,), start, **options))

    assert run(torch.bfloat16) == run(torch.float32)


def _flat(found: list[Any]) -> list[Any]:
    return [each for row in found for each in (row if isinstance(row, list) else [row])]


@pytest.fixture(scope="module")
def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=40, n_positions=64, n_embd=32, n_layer=2, n_head=2, initializer_range=0.5)
    return GPT2LMHeadModel(config).eval()


@pytest.mark.parametrize("first", range(1, 9))
def test_greedy_writes_what_hugging_face_writes(gpt2: GPT2LMHeadModel, first: int) -> None:
    def step(tokens: Tensor, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        past = torch.cat([state[0], tokens[:, None]], 1)
        with torch.inference_mode():
            return gpt2(past).logits[:, -1], (past,)

    def limits(logits: Tensor, written: Any) -> Tensor:
        whole = [[first, *own] for own in written]  # theirs counts the prompt
        return no_repeated_ngrams(3)(repetition_penalty(1.2)(logits, whole), whole)

    ours = greedy(
        step,
        (torch.zeros(1, 0, dtype=torch.int64),),
        torch.tensor([first]),
        end=END,
        limit=20,
        processors=[limits],
    )
    theirs = gpt2.generate(
        torch.tensor([[first]]),
        attention_mask=torch.ones(1, 1),
        max_new_tokens=20,
        do_sample=False,
        repetition_penalty=1.2,
        no_repeat_ngram_size=3,
        eos_token_id=END,
        pad_token_id=END,
    )
    assert list(ours[0].tokens) == [token for token in theirs[0, 1:].tolist() if token != END]
