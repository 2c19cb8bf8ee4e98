"""The recipe of MIME trains, and so does every ablation that its first lines name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor

from allears.labels import ED_EMOTIONS
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task
from allears.training.workers import Workers
from made_up_corpora import ED_HEADER, write_bytes

RECIPE = Path(__file__).parent.parent.parent / "recipes" / "ed-mime.toml"
TINY = [
    "model.vectors=",
    "model.start=",
    "model.options.size=16",
    "model.options.inner=16",
    "model.options.heads=2",
    "training.batch=8",
    "data.sample=2",
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [
        f"hit:{n}_conv:{n},{turn},{emotion},i felt {emotion},{turn},{said},,\n"
        for n, emotion in enumerate(ED_EMOTIONS)
        for turn, said in ((1, f"today i felt {emotion} again"), (2, f"why did you feel {emotion} ?"))
    ]
    for split in ("train", "valid"):
        write_bytes(tmp_path / "empatheticdialogues" / f"{split}.csv", (ED_HEADER + "".join(rows)).encode())
    return tmp_path


@pytest.mark.parametrize(
    "changes",
    [
        [],
        ["model.options.mimicry=false"],
        ["model.options.grouping=false"],
        ["model.options.stochastic=false"],
        ["model.options.posterior=prior"],
        ["loss.weights.divergence=0.2"],
    ],
    ids=str,
)
def test_the_recipe_and_its_ablations_learn_and_are_measured(corpus: Path, changes: list[str]) -> None:
    recipe = read_recipe(RECIPE, [*TINY, f"data.root={corpus}", *changes])
    task = make_task(recipe, corpus / "run")
    before = [parameter.detach().clone() for parameter in task.model.parameters()]
    optimizer = torch.optim.AdamW(task.model.parameters(), lr=1e-2, weight_decay=0.0)
    workers = Workers(Accelerator(cpu=True))

    def backward(loss: Tensor) -> None:
        loss.backward()

    task.model.train()
    loss = task.step(task.batches(0)[0], 0, workers, backward)
    optimizer.step()
    assert torch.isfinite(loss)
    moved = [
        not torch.equal(old, new.detach()) for old, new in zip(before, task.model.parameters(), strict=True)
    ]
    assert all(moved)
    task.model.eval()
    found = task.evaluate(torch.device("cpu"))
    assert {"likelihood", "ppl", "emotion_accuracy", "bleu_4"} <= set(found)
