"""`separate = true`: context, persona and response each have an encoder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from allears.models.selection import saved
from allears.models.selection.saved import ModelCard, TorchSelector
from allears.text.layout import Limits
from allears.training.loop import parameter_groups
from allears.training.recipe import TrainingOptions
from tiny_models import RESPONSES, queries, tiny_encoder, tiny_tokenizer

SMALL: dict[str, dict[str, Any]] = {
    "bi_encoder": {},
    "poly_encoder": {"codes": 8},
    "cobert": {},
    "memnet": {},
    "dam": {"channels": (6, 4), "cells": (1, 2, 2)},
    "bert_dim": {"hidden_size": 12, "mlp_size": 16},
}
every_model = pytest.mark.parametrize("name", SMALL)


def selector(folder: Path, name: str, **more: Any) -> TorchSelector:
    torch.manual_seed(0)
    encoder = tiny_encoder()
    card = ModelCard(name, SMALL[name] | more, Limits(persona_sentences=3), encoder=encoder.config)
    torch.manual_seed(1)  # the same heads, however many encoders were made before them
    return TorchSelector(saved.build(card, encoder), card, tiny_tokenizer(folder))


def scores(chosen: TorchSelector) -> np.ndarray:
    asked = queries()
    everyone = np.tile(np.arange(len(RESPONSES)), (len(asked), 1))
    return chosen.score(asked, chosen.encode_responses(RESPONSES), everyone)


@every_model
def test_a_separate_model_starts_where_a_shared_one_does(name: str, tmp_path: Path) -> None:
    shared, separate = selector(tmp_path, name), selector(tmp_path, name, separate=True)
    np.testing.assert_allclose(scores(separate), scores(shared), atol=1e-6)
    weights = [sum(p.numel() for p in one.model.encoder.parameters()) for one in (shared, separate)]
    total = [sum(p.numel() for p in one.model.parameters()) for one in (shared, separate)]
    assert weights[0] == weights[1]
    assert total[1] - total[0] == 2 * weights[0]


@every_model
@pytest.mark.parametrize("side", ["context", "persona", "response"])
def test_each_input_is_read_by_its_own_encoder(name: str, side: str, tmp_path: Path) -> None:
    chosen = selector(tmp_path, name, separate=True)
    before, model = scores(chosen), chosen.model
    with torch.no_grad():
        own = model.encoder if side == "context" else getattr(model, f"encoder_{side}")
        for parameter in own.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    after = scores(chosen)
    without_persona = 0  # the first query has none: only the persona's encoder leaves it alone
    assert np.allclose(after[without_persona], before[without_persona], atol=1e-6) == (side == "persona")
    assert not np.allclose(after[1:], before[1:], atol=1e-4)


@every_model
def test_separate_encoders_come_back_from_disk(name: str, tmp_path: Path) -> None:
    chosen = selector(tmp_path, name, separate=True)
    with torch.no_grad():
        for parameter in chosen.model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    saved.save(tmp_path / "model", chosen.model, chosen.card, chosen.tokenizer)
    np.testing.assert_allclose(scores(saved.load(tmp_path / "model")), scores(chosen), atol=1e-6)


@every_model
def test_all_three_learn_at_the_encoders_rate(name: str, tmp_path: Path) -> None:
    model = selector(tmp_path, name, separate=True).model
    options = TrainingOptions(learning_rate=1e-5, head_learning_rate=1e-3)
    slow = sum(
        parameter.numel()
        for group in parameter_groups(model, options)
        if group["peak"] == 1e-5
        for parameter in group["params"]
    )
    assert slow == 3 * sum(parameter.numel() for parameter in model.encoder.parameters())
