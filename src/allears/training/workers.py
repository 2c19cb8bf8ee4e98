"""Several processes training one model, seen through three verbs: share, gather, average.

We average gradients ourselves after the backward pass instead of wrapping the model: contrastive losses call
the encoders several times per step (and once more for cached gradients), which wrappers do not expect.
With one process every verb does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.nn.inputs import Encoded, length, widen


class Workers:
    def __init__(self, accelerator: Accelerator):
        self.accelerator = accelerator
        self.rank, self.count = accelerator.process_index, accelerator.num_processes
        self.device = accelerator.device

    def share(self, batch: list[int]) -> list[int]:
        """This process's part of a global batch: every so-manieth example, so that long ones are shared too."""
        if len(batch) % self.count:
            raise AllearsError(
                f"a batch of {len(batch)} cannot be shared evenly by {self.count} processes; change training.batch"
            )
        return batch[self.rank :: self.count]

    def gather(self, encoded: Encoded) -> Encoded:
        """Everybody's encodings, one after another, with gradients flowing back to whoever made them."""
        if self.count == 1:
            return encoded
        longest = torch.tensor(length(encoded), device=self.device)
        dist.all_reduce(longest, op=dist.ReduceOp.MAX)  # shapes must agree among the processes
        return widen(encoded, int(longest)).map(self.gather_tensor)

    def gather_tensor(self, tensor: Tensor) -> Tensor:
        if self.count == 1:
            return tensor
        if tensor.requires_grad:
            from torch.distributed.nn.functional import all_gather

            return torch.cat(all_gather(tensor))
        parts = [torch.empty_like(tensor) for _ in range(self.count)]
        dist.all_gather(parts, tensor.contiguous())
        return torch.cat(parts)

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
