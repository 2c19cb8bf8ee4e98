"""Perplexity per token and per word, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from allears.metrics.perplexity import ppl, ppl_word


def test_by_hand() -> None:
    # two responses of 3 and 1 tokens with their ends; every token has a probability of 1/8
    losses = [3 * math.log(8), math.log(8)]
    assert ppl(losses, [3, 1]) == pytest.approx(8)
    # "I see" and its end, nothing and its end: 4 words share the same loss
    assert ppl_word(losses, ["I  see", ""]) == pytest.approx(8)
    assert ppl_word(losses, ["I see it all", "oh well"]) == pytest.approx(8 ** (4 / 8))


def test_it_is_torchs_cross_entropy() -> None:
    torch.manual_seed(0)
    logits, targets = torch.randn(7, 5), torch.randint(5, (7,))
    each = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    mean = torch.nn.functional.cross_entropy(logits, targets)
    assert ppl([float(each[:3].sum()), float(each[3:].sum())], [3, 4]) == pytest.approx(
        math.exp(mean), rel=1e-5
    )


def test_per_word_it_does_not_matter_how_the_text_was_cut() -> None:
    losses, text = [12.0], ["unbelievable news"]
    assert ppl(losses, [3]) != ppl(losses, [6])
    assert ppl_word(losses, text) == pytest.approx(math.exp(12 / 3))


def test_a_hopeless_model_has_no_overflow() -> None:
    assert ppl([5e6], [10]) == math.inf


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="got 2 and 1"):
        ppl([1.0, 2.0], [3])
    with pytest.raises(ValueError, match="got 2 for 1"):
        ppl_word([1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="at least one token"):
        ppl([], [])
