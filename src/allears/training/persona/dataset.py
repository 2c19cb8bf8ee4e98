"""Tellings, tokenized once and cut into padded batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from allears.nn.inputs import Inputs
from allears.personas.examples import Telling
from allears.personas.lengths import Lengths, utterance_rows
from allears.personas.support import content_words, unsupported_words
from allears.personas.wording import sentences
from allears.text.layout import pad_flat
from allears.text.tokenizer import WordPiece


class TellingDataset:
    """Random access to tokenized utterances and what they tell.

    People who write down what a turn tells often say it in words of their own, which an extractor that keeps to
    the person's words can never write. Sentences of which the utterance says less than `support` of the content
    words are no targets; the turn still counts as telling something.
    """

    def __init__(
        self, tellings: Sequence[Telling], tokenizer: WordPiece, lengths: Lengths, *, support: float = 0.0
    ):
        self.tellings, self.tokenizer = list(tellings), tokenizer
        self.rows = utterance_rows([telling.utterance for telling in self.tellings], tokenizer, lengths)
        texts = [supported(telling, support) if support else telling.persona for telling in self.tellings]
        told = tokenizer.encode_many(texts)
        # a text that is cut has no end: the model must not learn to stop there
        self.targets = [[*ids, tokenizer.end][: lengths.persona_tokens] if ids else [] for ids in told]
        self.lengths = np.array([len(ids) for ids, _ in self.rows], np.int64)
        self.tells = np.array([bool(telling.persona) for telling in self.tellings], np.bool_)
        self.gold = np.array([telling.gold for telling in self.tellings], np.bool_)

    def __len__(self) -> int:
        return len(self.tellings)

    @property
    def fingerprint(self) -> str:
        """Changes when any text of the data does."""
        digest = hashlib.sha256()
        for telling in self.tellings:
            for text in (telling.utterance, telling.persona):
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:16]

    def inputs(self, rows: Sequence[int]) -> Inputs:
        return Inputs.from_tokens(pad_flat([self.rows[row] for row in rows], self.tokenizer.pad))

    def written(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Targets [B, T] with their mask; every one of `rows` must have one."""
        longest = max(len(self.targets[row]) for row in rows)
        padded = [
            self.targets[row] + [self.tokenizer.pad] * (longest - len(self.targets[row])) for row in rows
        ]
        lengths = torch.tensor([len(self.targets[row]) for row in rows])
        return torch.tensor(padded), torch.arange(longest) < lengths[:, None]

    def parts(self, size: int) -> Iterator[list[int]]:
        """All rows, shortest first, so that a part needs hardly any padding."""
        order = np.argsort(self.lengths, kind="stable").tolist()
        for start in range(0, len(order), size):
            yield order[start : start + size]


def supported(telling: Telling, share: float) -> str:
    """The sentences of a telling's persona of which its utterance says at least that share."""
    kept = []
    for sentence in sentences(telling.persona):
        content = content_words(sentence)
        said = len(content) - len(unsupported_words(sentence, telling.utterance))
        if content and said >= share * len(content):
            kept.append(sentence)
    return " ".join(kept)
