"""Teachers of a whole batch: Bi-encoders that say how likely each of its responses answers each of its contexts.

What they make of the training texts is computed once, so a teacher costs one matrix product a batch. Several teachers
have an equal say, as in `ensemble.py`. A student that learns from them learns which wrong answers are nearly right, and
overfits less: the teachers' doubt is a softer target than the one true response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from allears.errors import AllearsError
from allears.models.selection import saved
from allears.models.selection.bi_encoder import BiEncoder
from allears.runtime.selector import Query
from allears.training.selection.dataset import SelectionDataset

TEXTS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class BatchTeacher:
    """The training examples as one teacher sees them: contexts [N, d], times its scale, and responses [N, d]."""

    contexts: Tensor
    responses: Tensor

    def log_likelihood(self, rows: Tensor, columns: Tensor) -> Tensor:
        """[B, C]: of the responses of the examples `columns` to the contexts of `rows`."""
        return (self.contexts[rows].float() @ self.responses[columns].float().T).log_softmax(1)


def read_teachers(runs: Sequence[str], data: SelectionDataset, device: str) -> list[BatchTeacher]:
    return [_read(run, data, device) for run in runs]


def _read(run: str, data: SelectionDataset, device: str) -> BatchTeacher:
    selector = saved.load(run, device)
    if not isinstance(selector.model, BiEncoder) or selector.model.similarity != "cosine":
        raise AllearsError(
            f"recipe: negatives.teachers are Bi-encoders with similarity = 'cosine'; {run} is not one"
        )
    responses = selector.encode_responses([example.response.text for example in data.examples]).vector
    contexts = [
        selector.query_vectors(
            [Query(example.context) for example in data.examples[start : start + TEXTS_AT_ONCE]]
        )
        for start in range(0, len(data), TEXTS_AT_ONCE)
    ]
    scale = selector.model.log_scale.detach().exp()
    return BatchTeacher((torch.cat(contexts) * scale).half(), responses.half())


def likelihoods(teachers: Sequence[BatchTeacher], rows: Tensor, columns: Tensor) -> Tensor:
    """What the teachers say together: [B, C] probabilities."""
    found = torch.stack([teacher.log_likelihood(rows, columns) for teacher in teachers])
    return found.mean(0).softmax(1)
