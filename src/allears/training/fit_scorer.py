"""Fits the scorer of replies: python -m allears.training.fit_scorer

A network with one hidden layer on `listener.fitting`'s inputs, from blind readers' marks and, as off, replies that were
given to somebody else. The epoch with the best area (good against off) on valid is kept. Minutes on two cores, nearly
all of them for encoding.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

from allears.conversation import Conversation, Persona, Role
from allears.corpora import data_root
from allears.corpora import read as read_corpus
from allears.corpora.marked import from_talks
from allears.labels import MARKS
from allears.listener.fitting import FILE, Floats, ScorerWeights, read
from allears.metrics.ranking import area_under_curve
from allears.runtime.onnx_selector import OnnxSelector

HIDDEN, DROPOUT, DECAY, RATE = 96, 0.4, 3e-2, 1e-3
EPOCHS, BATCH = 40, 128
SMOOTHING = 0.05
Inputs = tuple[Floats, Floats, np.ndarray, np.ndarray]  # vectors, features, marks, weights


def inputs(selector: OnnxSelector, talks: Sequence[Conversation], weight: float = 1.0) -> Inputs:
    """Each conversation ends with the marked reply; replies at the same place are read together."""
    places: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Conversation]] = {}
    for talk in talks:
        known = talk.personas.get(Role.SEEKER.value, Persona()).texts
        places.setdefault((known, tuple(turn.text for turn in talk.turns[:-1])), []).append(talk)
    vectors, features, marks = [], [], []
    for key, group in places.items():
        one, other = read(selector, group[0].turns[:-1], key[0], [talk.turns[-1].text for talk in group])
        vectors.append(one)
        features.append(other)
        marks += [MARKS.index(str(talk.labels["mark"])) for talk in group]
    return (
        np.concatenate(vectors),
        np.concatenate(features),
        np.array(marks),
        np.full(len(marks), weight, np.float32),
    )


def fit(train: Inputs, valid: Inputs, fingerprint: str, seed: int = 1) -> tuple[ScorerWeights, float]:
    """The network of the best epoch, and its area on valid."""
    torch.manual_seed(seed)
    centre, scale = train[1].mean(axis=0), train[1].std(axis=0) + 1e-6
    x = torch.from_numpy(np.concatenate([train[0], (train[1] - centre) / scale], axis=1))
    y, weights = torch.from_numpy(train[2]), torch.from_numpy(train[3])
    first, second = nn.Linear(x.shape[1], HIDDEN), nn.Linear(HIDDEN, len(MARKS))
    network = nn.Sequential(nn.Dropout(DROPOUT / 2), first, nn.GELU("tanh"), nn.Dropout(DROPOUT), second)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    loss_of = nn.CrossEntropyLoss(label_smoothing=SMOOTHING, reduction="none")
    best, kept = -1.0, None
    for _ in range(EPOCHS):
        network.train()
        for rows in torch.randperm(len(x)).split(BATCH):
            loss = (loss_of(network(x[rows]), y[rows]) * weights[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found = ScorerWeights(
            centre,
            scale,
            first.weight.detach().numpy().copy(),
            first.bias.detach().numpy().copy(),
            second.weight.detach().numpy().copy(),
            second.bias.detach().numpy().copy(),
            fingerprint,
        )
        area = area_of(found, valid)
        if area > best:
            best, kept = area, found
    assert kept is not None
    return kept, best


def area_of(weights: ScorerWeights, data: Inputs) -> float:
    """How often a good reply is worth more than one that is off."""
    chances = weights.chances(data[0], data[1])
    worth = chances[:, MARKS.index("good")] - chances[:, MARKS.index("off")]
    return area_under_curve(worth[data[2] == MARKS.index("good")], worth[data[2] == MARKS.index("off")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--root", type=Path, default=None, help="the corpora's root, where the marks are others"
    )
    parser.add_argument(
        "--talks", type=int, default=3000, help="of our own corpus, each a good and an off reply"
    )
    parser.add_argument(
        "--rewritten", type=int, default=800, help="of the replies of our corpus that were plain or off before"
    )
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    selector = OnnxSelector.from_bundle()
    root = data_root(options.root)
    marked = {name: list(read_corpus("marked-replies", name, options.root)) for name in ("train", "valid")}
    before = [talk for talk in marked["train"] if talk.labels["source"] == "talks"]
    kept = random.Random(0).sample(before, min(options.rewritten, len(before)))
    marked["train"] = [talk for talk in marked["train"] if talk.labels["source"] != "talks"] + kept
    others = list(from_talks("train", root))
    others = random.Random(0).sample(others, min(2 * options.talks, len(others)))
    own, beside = inputs(selector, marked["train"]), inputs(selector, others)
    train: Inputs = tuple(np.concatenate(pair) for pair in zip(own, beside, strict=True))  # type: ignore[assignment]
    weights, area = fit(train, inputs(selector, marked["valid"]), selector.fingerprint)
    save_file(
        {
            name: np.asarray(
                getattr(weights, name), np.float16 if name in ("first", "second") else np.float32
            )
            for name in ("centre", "scale", "first", "first_bias", "second", "second_bias")
        },
        options.out,
        metadata={"fingerprint": weights.fingerprint},
    )
    print(f"{len(train[2]):,} replies; area of good against off on valid: {100 * area:.1f}")


if __name__ == "__main__":
    main()
