"""Several processes training one model, seen through three verbs: share, gather, average.

We average gradients ourselves after the backward pass instead of wrapping the model: contrastive losses call
the encoders several times per step (and once more for cached gradients), which wrappers do not expect.
With one process every verb does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist
import torch.nn.functional as F
from accelerate import Accelerator
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.nn.inputs import Encoded


class Workers:
    def __init__(self, accelerator: Accelerator):
        self.accelerator = accelerator
        self.rank, self.count = accelerator.process_index, accelerator.num_processes
        self.device = accelerator.device

    def share(self, batch: list[int]) -> list[int]:
        """This process's part of a global batch."""
        if len(batch) % self.count:
            raise AllearsError(f"a batch of {len(batch)} cannot be shared by {self.count} processes evenly")
        size = len(batch) // self.count
        return batch[self.rank * size : (self.rank + 1) * size]

    def gather(self, encoded: Encoded) -> Encoded:
        """Everybody's encodings, one after another, with gradients flowing back to whoever made them."""
        if self.count == 1:
            return encoded
        return Encoded(
            vector=None if encoded.vector is None else self.gather_tensor(encoded.vector),
            states=None if encoded.states is None else self.gather_tensor(self._longest(encoded.states, -2)),
            mask=None if encoded.mask is None else self.gather_tensor(self._longest(encoded.mask, -1)),
            inputs=None
            if encoded.inputs is None
            else encoded.inputs.map(lambda tensor: self.gather_tensor(self._longest(tensor, -1))),
        )

    def gather_tensor(self, tensor: Tensor) -> Tensor:
        if self.count == 1:
            return tensor
        if tensor.requires_grad:
            from torch.distributed.nn.functional import all_gather

            return torch.cat(all_gather(tensor))
        parts = [torch.empty_like(tensor) for _ in range(self.count)]
        dist.all_gather(parts, tensor.contiguous())
        return torch.cat(parts)

    def _longest(self, tensor: Tensor, dim: int) -> Tensor:
        """Pad the token dimension to the longest among the processes, so that shapes agree."""
        length = torch.tensor(tensor.shape[dim], device=tensor.device)
        dist.all_reduce(length, op=dist.ReduceOp.MAX)
        more = int(length) - tensor.shape[dim]
        return F.pad(tensor, (0, more) if dim == -1 else (0, 0, 0, more))

    def average_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            dist.all_reduce(parameter.grad)
            parameter.grad /= self.count

    def average(self, value: Tensor) -> Tensor:
        if self.count > 1:
            value = value.clone()
            dist.all_reduce(value)
            value /= self.count
        return value
