"""Whether MoEL's listeners have specialised: how well each of them, speaking alone, says what people said.

For every emotion the responses to people who felt it are scored with each listener's output in turn in place of the
mixture (V = V_0 + V_i). A listener that has learned its own emotion scores higher there than the others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from allears.corpora.plots import QUIET, check_picture_path
from allears.errors import AllearsError
from allears.evaluation.picture import picture, picture_style, write_picture
from allears.models.generation.empathetic import before, likelihoods
from allears.models.generation.empathetic_data import EmpatheticDataset, emotion_name
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.examples import GenerationExample
from allears.models.generation.moel import ListeningModel
from allears.progress import Watch, unwatched

Values = npt.NDArray[np.float64]
BATCH = 32


@dataclass(frozen=True, slots=True)
class Listeners:
    """Rows are what people felt, columns listeners, both in the order of `labels`."""

    labels: tuple[str, ...]
    likelihood: Values  # mean log-probability of a token
    attention: Values  # mean weight that the emotion tracker gives each listener
    apart: float  # mean distance between two listeners' outputs, beside their mean length

    @property
    def gain(self) -> Values:
        """How much likelier (in nats per token) each listener makes the responses of each emotion than the mean of all
        listeners does; a listener that is better everywhere gains nothing by it."""
        rows = self.likelihood - self.likelihood.mean(axis=1, keepdims=True)
        return np.asarray(rows - rows.mean(axis=0, keepdims=True))

    def flat(self) -> dict[str, Any]:
        """Names and numbers as `--json` prints them."""
        gain = self.gain
        ranks = (gain > np.diag(gain)[:, None]).sum(axis=1) + 1
        return {
            "own_listener_best": 100.0 * float((ranks == 1).mean()),
            "own_listener_rank": float(ranks.mean()),
            "own_listener_gain": float(np.diag(gain).mean()),
            "own_attention": 100.0 * float(np.diag(self.attention).mean()),
            "outputs_apart": self.apart,
            "gain": {name: float(value) for name, value in zip(self.labels, np.diag(gain), strict=True)},
        }


@torch.inference_mode()
def listeners(
    generator: Any,
    examples: Sequence[GenerationExample],
    *,
    each: int = 10,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Listeners:
    """From `each` examples of every emotion."""
    if not isinstance(generator, EmpatheticGenerator) or not isinstance(generator.model, ListeningModel):
        raise AllearsError("only MoEL and ModMoEL have listeners; give the folder of such a run")
    labels = generator.emotion_labels
    likely, shares = np.zeros((len(labels), len(labels))), np.zeros((len(labels), len(labels)))
    apart: list[float] = []
    generator.module.eval()
    for row in watch(range(len(labels)), "listening"):
        chosen = _of_emotion(examples, labels[row], len(labels), each, seed)
        data = EmpatheticDataset(chosen, generator.tokenizer, generator.layout)
        for rows in data.parts(BATCH):
            batch = data.batch(rows).to(generator.device)
            with generator.autocast():
                read = generator.model.read(batch)
                shares[row] += read.more[0].double().sum(0).cpu().numpy() / len(chosen)
                for column in range(len(labels)):
                    alone = F.one_hot(torch.full((len(rows),), column), len(labels)).to(read.more[0])
                    state = generator.model.begin(read._replace(more=(alone, *read.more[1:])))
                    logits, _ = generator.model.write(before(batch), state)
                    found = (likelihoods(logits, batch.targets).double() * batch.mask).sum()
                    likely[row, column] += float(found)
                apart.append(_apart(generator, batch, read))
        likely[row] /= sum(len(target) for target in data.targets)
    return Listeners(labels, likely, shares, float(np.mean(apart)))


def _apart(generator: EmpatheticGenerator, batch: Any, read: Any) -> float:
    """How different the emotions' own outputs V_i are, for the first words of the responses: the root mean square of
    V_i - mean V over that of V_i less what went in."""
    model: Any = generator.model
    state = model.begin(read)
    size = model.listeners.state_size
    own = state[len(state) - size - model.meta.state_size : len(state) - model.meta.state_size]
    heard = model.input(model.words, before(batch), seen=0)
    masks = state[: model.listeners.sources]
    voices = model.listeners(heard, own, masks)[0][:, 1:].float() - heard.unsqueeze(1)  # [B, n, T, d]
    real = batch.mask[:, None, :, None]
    differ = ((voices - voices.mean(1, keepdim=True)) * real).square().sum()
    return float((differ / (voices * real).square().sum()).sqrt())


def _of_emotion(
    examples: Sequence[GenerationExample], label: str, emotions: int, each: int, seed: int
) -> list[GenerationExample]:
    found = [
        example
        for example in examples
        if example.labels.emotion is not None and emotion_name(example.labels.emotion, emotions) == label
    ]
    if not found:
        raise AllearsError(f"no example here has the emotion {label!r}; give a larger split")
    return found if len(found) <= each else Random(seed).sample(found, each)


def save_listeners_picture(found: Listeners, title: str, path: Path) -> None:
    """The gain of every listener for every emotion, and how much attention it gets there."""
    check_picture_path(path)
    with picture_style():
        figure = picture(15.0, 7.4)
        figure.suptitle(title, fontsize=12.5, fontweight="bold", x=0.01, ha="left")
        left, right = figure.subplots(1, 2)
        widest = float(np.abs(found.gain).max()) or 1.0
        shown = left.imshow(found.gain, cmap="RdBu", vmin=-widest, vmax=widest)
        figure.colorbar(shown, ax=left, shrink=0.7, label="gain, nats per token")
        left.set_title(
            "how well each listener alone says what was answered", loc="left", fontsize=10, color=QUIET
        )
        shown = right.imshow(100 * found.attention, cmap="Blues", vmin=0)
        figure.colorbar(shown, ax=right, shrink=0.7, label="weight, %")
        right.set_title("how much the tracker listens to each", loc="left", fontsize=10, color=QUIET)
        names = [label.split("+")[0] + ("…" if "+" in label else "") for label in found.labels]
        for axes in (left, right):
            axes.set(
                xticks=range(len(names)), yticks=range(len(names)), xlabel="listener", ylabel="what was felt"
            )
            axes.set_xticklabels(names, rotation=90, fontsize=7)
            axes.set_yticklabels(names, fontsize=7)
        write_picture(figure, path)
