"""Hard negatives from a model's own nearest neighbours, and a teacher's opinion of them."""

from __future__ import annotations

import numpy as np
import torch
from rich.progress import track

from allears.errors import AllearsError
from allears.models.selection.saved import TorchSelector
from allears.runtime.selector import Query
from allears.training.selection.dataset import SelectionDataset


def _queries(data: SelectionDataset) -> list[Query]:
    """Contexts with persona as a model sees them; sentences that stand in the response are left out."""
    return [
        Query(
            example.context,
            tuple(text for text in example.persona.texts if text not in example.response.text)
            if data.has_persona
            else (),
        )
        for example in data.examples
    ]


def mine_negatives(
    miner: TorchSelector,
    data: SelectionDataset,
    per_example: int,
    *,
    random: int = 0,
    skip: int,
    depth: int,
    seed: int,
) -> np.ndarray:
    """[N, per_example] example numbers whose responses lie near each context.

    The nearest `skip` are passed over (many responses fit many contexts, and calling those wrong teaches
    nonsense); the rest are drawn at random from the next `depth`, but for `random` of them, drawn from
    everywhere. Equal texts never count as negatives.
    """
    if depth > len(data):
        raise AllearsError(
            f"negatives.depth is {depth} but there are only {len(data)} responses to mine from"
        )
    candidates = miner.encode_responses([example.response.text for example in data.examples])
    if candidates.vector is None:
        raise AllearsError("negatives.mine_with must be a bi_encoder, or a cobert trained with pooled = true")
    vectors = candidates.vector.float()
    numbers = torch.from_numpy(data.response_numbers).to(vectors.device)
    generator = np.random.default_rng(seed)
    mined = np.empty((len(data), per_example), np.int64)
    queries = _queries(data)
    take = min(len(data), skip + depth)
    for start in track(range(0, len(data), 512), description="mining negatives", transient=True):
        rows = slice(start, min(start + 512, len(data)))
        context = miner.query_vectors(queries[rows])
        scores = context @ vectors.T
        scores.masked_fill_(numbers[rows, None] == numbers[None, :], float("-inf"))
        near = scores.topk(take).indices[:, skip:].cpu().numpy()
        draw = generator.random(near.shape).argsort(1)[:, :per_example]
        mined[rows] = np.take_along_axis(near, draw, 1)
    if random:
        anywhere = generator.integers(len(data), size=(len(data), random))
        same = data.response_numbers[anywhere] == data.response_numbers[:, None]
        # where the draw hit the truth itself, the mined negative stays
        mined[:, :random] = np.where(same, mined[:, :random], anywhere)
    return mined


def teacher_scores(teacher: TorchSelector, data: SelectionDataset, mined: np.ndarray) -> np.ndarray:
    """[N, 1 + H]: the teacher's scores of each true response and its mined negatives."""
    candidates = teacher.encode_responses([example.response.text for example in data.examples])
    chosen = np.concatenate([np.arange(len(data))[:, None], mined], 1)
    queries = _queries(data)
    order = np.argsort(data.lengths, kind="stable")
    scores = np.empty(chosen.shape, np.float32)
    for start in track(range(0, len(order), 128), description="asking the teacher", transient=True):
        rows = order[start : start + 128]
        scores[rows] = teacher.score([queries[row] for row in rows], candidates, chosen[rows])
    return scores
