"""A fine-tuned encoder behind the interface of every classifier: a reader with one head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.models.reader import saved
from allears.nn.encoder import encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.runtime.classifier import Classifier, Labels, Probabilities, known_labels, label_sets
from allears.text.layout import Limits
from allears.text.reading import Reading
from allears.training.loop import learning_rate, parameter_groups
from allears.training.recipe import TrainingOptions
from allears.training.understanding.dataset import ReadingDataset
from allears.training.understanding.losses import label_loss

_HEAD = "label"


class EncoderClassifier(Classifier):
    """`fit` fine-tunes `encoder` (a hub name or a folder). For long runs with a valid split, checkpoints and
    several heads, train a reader with a recipe instead; `of` puts such a reader behind this interface."""

    def __init__(
        self,
        encoder: str = "thenlper/gte-small",
        *,
        labels: Sequence[str] | None = None,
        multi_label: bool = False,
        epochs: int = 4,
        batch: int = 64,
        rate: float = 1e-4,
        smoothing: float = 0.0,
        tokens: int = 128,
        seed: int = 1,
        device: str = "cpu",
    ):
        self.encoder, self.labels, self.multi_label = encoder, labels, multi_label
        self.epochs, self.batch, self.rate, self.smoothing = epochs, batch, rate, smoothing
        self.tokens, self.seed, self.device = tokens, seed, device
        self.reader_: saved.TorchReader | None = None
        self._head = _HEAD

    @classmethod
    def of(cls, reader: saved.TorchReader, head: str) -> EncoderClassifier:
        """One head of a trained reader."""
        if head not in reader.card.heads:
            raise AllearsError(
                f"this reader was not trained for the head {head}; it has {', '.join(reader.card.heads)}"
            )
        classifier = cls(device=reader.device)
        classifier.reader_, classifier._head = reader, head
        classifier.labels_ = tuple(reader.card.heads[head])
        return classifier

    def fit(self, texts: Sequence[str], labels: Sequence[Labels]) -> Self:
        sets = label_sets(texts, labels)
        self.labels_, self._head = known_labels(sets, self.labels), _HEAD
        torch.manual_seed(self.seed)
        encoder, tokenizer = load_encoder(self.encoder), encoder_tokenizer(self.encoder)
        card = saved.ReaderCard(
            {_HEAD: self.labels_},
            Limits(context_tokens=self.tokens, first_turn_tokens=self.tokens),
            encoder.config,
            {"multi_label": [_HEAD] if self.multi_label else []},
        )
        model = saved.build(card, encoder).to(self.device)
        readings = [Reading(_turns(text), names) for text, names in zip(texts, sets, strict=True)]
        data = ReadingDataset(readings, self.labels_, tokenizer, card.limits)
        options = TrainingOptions(learning_rate=self.rate)
        optimizer = torch.optim.AdamW(parameter_groups(model, options), weight_decay=options.weight_decay)
        per_epoch = -(-len(data) // self.batch)
        model.train()
        for step in range(self.epochs * per_epoch):
            epoch, place = divmod(step, per_epoch)
            order = np.random.default_rng((self.seed, epoch)).permutation(len(data))
            rows = order[place * self.batch : (place + 1) * self.batch].tolist()
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * learning_rate(step, self.epochs * per_epoch, options)
            logits = model(data.inputs(rows).to(self.device)).logits[_HEAD]
            gold = data.targets(rows).to(self.device)
            label_loss(logits, gold, multi_label=self.multi_label, smoothing=self.smoothing).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.reader_ = saved.TorchReader(model, card, tokenizer, device=self.device)
        return self

    def predict_proba(self, texts: Sequence[str]) -> Probabilities:
        if self.reader_ is None:
            raise AllearsError("this classifier has learned nothing yet; call fit first")
        logits = self.reader_.logits(self._head, [Reading(_turns(text)) for text in texts])
        return self.reader_.calibrated(self._head, logits)


def _turns(text: str) -> tuple[Turn, ...]:
    return (Turn(Role.SEEKER, text),)
