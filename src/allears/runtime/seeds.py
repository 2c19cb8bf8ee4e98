"""A seed for each prompt: what is written for one does not depend on the others. No torch here."""

from __future__ import annotations

import numpy as np

from allears.runtime.generator import Seed


def prompt_seeds(seed: Seed, count: int) -> list[int]:
    """A seed for each prompt. Of one number, one by place: prompts that drew the same chances would choose alike."""
    if not isinstance(seed, int):
        if len(seed) != count:
            raise ValueError(f"{count} prompts need {count} seeds, or one for all of them; got {len(seed)}")
        return list(seed)
    return [int(np.random.SeedSequence((seed, place)).generate_state(1)[0]) for place in range(count)]
