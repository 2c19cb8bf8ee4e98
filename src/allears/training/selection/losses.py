"""How selection models learn: cross-entropy over candidates, cached gradients, distillation.

The candidates of a context are the responses of the whole batch (over all processes) and its own mined
negatives; candidates with the same text as the true response are left out of its row.

A batch comes in *parts*: contexts and responses sorted by length and padded part by part. Parts are encoded and
compared one by one, so that a single long context does not make the whole batch as wide as itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from allears.models.selection.contract import SelectionModel
from allears.nn.inputs import Encoded, Inputs, stack
from allears.training.workers import Workers

Backward = Callable[[Tensor], None]


@dataclass(frozen=True, slots=True)
class SelectionLossOptions:
    """`in_batch`: the whole batch's responses are candidates, not only the row's own list of negatives.
    `symmetric`: responses choose their contexts as well, with the same scores. `cached`: keep the memory of one
    part at a time (see `step`). `distillation`: the teacher's weight."""

    in_batch: bool = True
    symmetric: bool = False
    cached: bool = False
    distillation: float = 1.0


@dataclass(frozen=True, slots=True)
class SelectionBatch:
    """This process's share of a batch: B contexts, their B responses, and H mined negatives for each context.

    `response_places` [B] and `mined_places` [B, H] say where each stands in the joined response parts.
    `numbers` [B] name the responses' texts; equal numbers are equal texts. `teacher` [B, 1 + H] are a teacher's
    scores of the true response and the row's mined negatives; `likely` [B, everybody's B] the in-batch teachers'
    probabilities.
    """

    contexts: list[Inputs]
    personas: list[Inputs] | None
    responses: list[Inputs]
    response_places: Tensor
    numbers: Tensor
    mined: list[Inputs] | None = None
    mined_places: Tensor | None = None
    teacher: Tensor | None = None
    likely: Tensor | None = None

    def to(self, device: torch.device) -> SelectionBatch:
        return replace(
            self._read_through(lambda part: part.to(device)),
            mined=None if self.mined is None else [part.to(device) for part in self.mined],
            response_places=self.response_places.to(device),
            numbers=self.numbers.to(device),
            mined_places=None if self.mined_places is None else self.mined_places.to(device),
            teacher=None if self.teacher is None else self.teacher.to(device),
            likely=None if self.likely is None else self.likely.to(device),
        )

    def hiding(self, share: float) -> SelectionBatch:
        """The batch with this share of the tokens hidden, drawn anew."""
        return self._read_through(lambda part: part.hiding(share))

    def _read_through(self, change: Callable[[Inputs], Inputs]) -> SelectionBatch:
        """The batch with its contexts, personas and responses changed, in this order."""
        return replace(
            self,
            contexts=[change(part) for part in self.contexts],
            personas=None if self.personas is None else [change(part) for part in self.personas],
            responses=[change(part) for part in self.responses],
        )


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """What the encoders made of each part."""

    contexts: list[Encoded]
    personas: list[Encoded] | None
    responses: list[Encoded]
    mined: list[Encoded] | None


def contrastive_loss(
    model: SelectionModel,
    encoded: EncodedBatch,
    batch: SelectionBatch,
    workers: Workers,
    options: SelectionLossOptions,
) -> Tensor:
    """Equation 7 of PEC with its logarithm; plus, with teachers, what parts it from their scores."""
    size = len(batch.numbers)
    candidates, places = encoded.responses, batch.response_places
    numbers = workers.gather_tensor(batch.numbers)
    shared = workers.count == 1 and options.in_batch  # then the parts can stay apart
    own = candidates[0] if shared else stack(candidates)[places]
    if workers.count > 1:
        candidates, places = [workers.gather(own)], torch.arange(len(numbers), device=numbers.device)
    mined = None if encoded.mined is None else stack(encoded.mined)[batch.mined_places]  # [B, H, ...]
    total = torch.zeros((), device=numbers.device)
    matrix: list[Tensor] = []  # the in-batch scores, row by row of this process
    start = 0
    for number, context in enumerate(encoded.contexts):
        persona = None if encoded.personas is None else encoded.personas[number]
        rows = slice(start, start + len(context.tensors()[0]))
        start = rows.stop
        here = torch.arange(rows.stop - rows.start, device=numbers.device)
        if options.in_batch:
            scores = torch.cat([model.score(context, persona, part[None]).float() for part in candidates], 1)
            scores = scores[:, places]  # [rows, everybody's responses]
            target = workers.rank * size + rows.start + here
            same_text = batch.numbers[rows, None] == numbers[None, :]
            same_text[here, target] = False
            scores = scores.masked_fill(same_text, float("-inf"))
            true = scores.gather(1, target[:, None])
            matrix.append(scores)
            if batch.likely is not None:
                likely = batch.likely[rows].masked_fill(same_text, 0.0)
                likely = likely / likely.sum(1, keepdim=True)
                said = scores.log_softmax(1).masked_fill(same_text, 0.0)
                total = total - options.distillation * (likely * said).sum()
        else:  # each context against its own list only: for models that read every pair together
            scores = true = model.score(context, persona, own[rows].map(lambda t: t[:, None])).float()
            target = torch.zeros_like(here)
        if mined is not None:
            listed = model.score(context, persona, mined[rows]).float()
            scores = torch.cat([scores, listed], 1)
            if batch.teacher is not None:
                total = total + options.distillation * F.kl_div(
                    torch.cat([true, listed], 1).log_softmax(1),
                    batch.teacher[rows].log_softmax(1),
                    log_target=True,
                    reduction="sum",
                )
        total = total + F.cross_entropy(scores, target, reduction="sum")
    if options.symmetric and matrix:
        everybody = workers.gather_tensor(torch.cat(matrix))  # all contexts, in the order of their responses
        own_columns = workers.rank * size + torch.arange(size, device=numbers.device)
        total = (total + F.cross_entropy(everybody.T[own_columns], own_columns, reduction="sum")) / 2
    return total / size


def step(
    model: SelectionModel,
    batch: SelectionBatch,
    workers: Workers,
    backward: Backward,
    options: SelectionLossOptions = SelectionLossOptions(),  # noqa: B008 - frozen
) -> Tensor:
    """One forward and backward pass.

    With `cached`, gradients are cached (Gao et al. 2021): encode everything without a graph, take the loss's
    gradient with respect to the encodings, then encode part by part again and push that gradient through.
    Memory is that of one part, the negatives are those of the whole batch, the result is the same.
    """
    if not options.cached:
        loss = contrastive_loss(
            model, _encoded(model, batch, lambda encode, part: encode(part)), batch, workers, options
        )
        backward(loss)
        return loss.detach()

    passes: list[tuple[Callable[[Inputs], Encoded], Inputs, int, list[Tensor]]] = []

    def leaf(encode: Callable[[Inputs], Encoded], part: Inputs) -> Encoded:
        seed = int(torch.randint(2**31, ()))
        torch.manual_seed(seed)  # dropout must fall the same way in the second pass
        with torch.no_grad():
            kept = encode(part).map(lambda t: t.requires_grad_() if t.is_floating_point() else t)
        passes.append((encode, part, seed, [t for t in kept.tensors() if t.is_floating_point()]))
        return kept

    loss = contrastive_loss(model, _encoded(model, batch, leaf), batch, workers, options)
    backward(loss)
    for encode, part, seed, kept in passes:
        torch.manual_seed(seed)
        again = [t for t in encode(part).tensors() if t.is_floating_point()]
        used = [(t, leaf.grad) for t, leaf in zip(again, kept, strict=True) if leaf.grad is not None]
        if used:
            torch.autograd.backward([t for t, _ in used], [gradient for _, gradient in used])
    return loss.detach()


def _encoded(
    model: SelectionModel,
    batch: SelectionBatch,
    run: Callable[[Callable[[Inputs], Encoded], Inputs], Encoded],
) -> EncodedBatch:
    def each(encode: Callable[[Inputs], Encoded], parts: Sequence[Inputs]) -> list[Encoded]:
        return [run(encode, part) for part in parts]

    return EncodedBatch(
        contexts=each(model.encode_context, batch.contexts),
        personas=None if batch.personas is None else each(model.encode_persona, batch.personas),
        responses=each(model.encode_response, batch.responses),
        mined=None if batch.mined is None else each(model.encode_response, batch.mined),
    )
