"""How selection models learn: cross-entropy over candidates, cached gradients, distillation.

The candidates of a context are the responses of the whole batch (over all processes) and the batch's mined
negatives; candidates with the same text as the true response are left out of its row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from allears.nn.inputs import Encoded, Inputs, stack
from allears.selection.contract import SelectionModel
from allears.training.workers import Workers

Backward = Callable[[Tensor], None]


@dataclass(frozen=True, slots=True)
class LossOptions:
    """`in_batch`: the whole batch's responses are candidates, not only the row's own list of negatives.
    `cache_chunk`: cached gradients, this many texts at a time (0: off). `distillation`: the teacher's weight."""

    in_batch: bool = True
    cache_chunk: int = 0
    distillation: float = 1.0


@dataclass(frozen=True, slots=True)
class SelectionBatch:
    """This process's share of a batch, already padded.

    `responses` holds the B true responses, then B·H mined negatives, row by row. `numbers` name their texts.
    `teacher` [B, 1 + H] are a teacher's scores of the true response and the row's mined negatives.
    """

    contexts: Inputs
    personas: Inputs | None
    responses: Inputs
    numbers: Tensor
    size: int
    teacher: Tensor | None = None

    def to(self, device: torch.device) -> SelectionBatch:
        return replace(
            self,
            contexts=self.contexts.to(device),
            personas=None if self.personas is None else self.personas.to(device),
            responses=self.responses.to(device),
            numbers=self.numbers.to(device),
            teacher=None if self.teacher is None else self.teacher.to(device),
        )


def contrastive_loss(
    model: SelectionModel,
    context: Encoded,
    persona: Encoded | None,
    response: Encoded,
    batch: SelectionBatch,
    workers: Workers,
    options: LossOptions,
) -> Tensor:
    """Equation 7 of PEC with its logarithm; plus, with a teacher, the divergence from the teacher's scores."""
    size, mined = batch.size, len(batch.numbers) - batch.size
    here = torch.arange(size, device=batch.numbers.device)
    if options.in_batch:
        own, extra = response[:size], response[size:]
        candidates, numbers = workers.gather(own), workers.gather_tensor(batch.numbers[:size])
        if mined:
            candidates = stack([candidates, workers.gather(extra)])
            numbers = torch.cat([numbers, workers.gather_tensor(batch.numbers[size:])])
        target = workers.rank * size + here
        listed = size * workers.count + target[:, None] * (mined // size)
        same_text = batch.numbers[:size, None] == numbers[None, :]
    else:  # each context against its own list only: for models that read every pair together
        target, listed = here, size + here[:, None] * (mined // size)
    listed = torch.cat([target[:, None], listed + torch.arange(mined // size, device=here.device)], 1)  # [B, 1 + H]
    if options.in_batch:
        scores = model.score(context, persona, candidates[None]).float()  # [B, all candidates]
        same_text[here, target] = False
        loss = F.cross_entropy(scores.masked_fill(same_text, float("-inf")), target)
        chosen = scores.gather(1, listed)
    else:
        chosen = model.score(context, persona, response[listed]).float()
        loss = F.cross_entropy(chosen, torch.zeros_like(target))  # mined negatives never equal the truth
    if batch.teacher is not None:
        loss = loss + options.distillation * F.kl_div(
            chosen.log_softmax(1), batch.teacher.log_softmax(1), log_target=True, reduction="batchmean"
        )
    return loss


def step(
    model: SelectionModel,
    batch: SelectionBatch,
    workers: Workers,
    backward: Backward,
    options: LossOptions = LossOptions(),  # noqa: B008 - frozen
) -> Tensor:
    """One forward and backward pass.

    With `cache_chunk`, gradients are cached (Gao et al. 2021): encode everything without a graph, take the loss's
    gradient with respect to the encodings, then encode chunk by chunk again and push that gradient through.
    Memory is that of one chunk, the negatives are those of the whole batch, the result is the same.
    """
    cache_chunk = options.cache_chunk
    if not cache_chunk:
        context = model.encode_context(batch.contexts)
        persona = None if batch.personas is None else model.encode_persona(batch.personas)
        response = model.encode_response(batch.responses)
        loss = contrastive_loss(model, context, persona, response, batch, workers, options)
        backward(loss)
        return loss.detach()

    parts = [(model.encode_context, batch.contexts), (model.encode_response, batch.responses)]
    if batch.personas is not None:
        parts.append((model.encode_persona, batch.personas))
    leaves, chunks = [], []
    for encode, inputs in parts:
        found = []
        for start in range(0, len(inputs.ids), cache_chunk):
            chunk, seed = inputs[start : start + cache_chunk], int(torch.randint(2**31, ()))
            with torch.no_grad():
                torch.manual_seed(seed)  # dropout must fall the same way in the second pass
                found.append(encode(chunk))
            chunks.append((encode, chunk, seed, len(leaves), start))
        leaves.append(stack(found).map(lambda t: t.requires_grad_() if t.is_floating_point() else t))
    persona = leaves[2] if batch.personas is not None else None
    loss = contrastive_loss(model, leaves[0], persona, leaves[1], batch, workers, options)
    backward(loss)
    for encode, chunk, seed, leaf, start in chunks:
        torch.manual_seed(seed)
        again = encode(chunk)
        stop = start + len(chunk.ids)
        surrogate = sum(
            (tensor * kept.grad[start:stop]).sum()
            for tensor, kept in zip(again.tensors(), leaves[leaf].tensors(), strict=True)
            if kept.grad is not None
        )
        if isinstance(surrogate, Tensor):
            surrogate.backward()  # the scale of `backward` is already in the cached gradient
    return loss.detach()
