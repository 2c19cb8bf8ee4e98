"""Small empathetic generators with fresh weights, and made-up conversations for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from allears.conversation import Role, Turn
from allears.labels import DAILY_ACTS, ED_EMOTIONS, INTENTS
from allears.models.generation.empathetic import EmpatheticBatch, Learning
from allears.models.generation.empathetic_data import EmpatheticDataset
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.empathetic_saved import EmpatheticCard, build_empathetic, word_vocabulary
from allears.models.generation.examples import GenerationExample, ResponseLabels
from allears.runtime.generator import Prompt
from allears.text.layout import Limits

SMALL = {"size": 24, "layers": 1, "heads": 2, "inner": 32, "dropout": 0.0}
LISTENERS = {"listener_depth": 8, "listener_inner": 16}
LIMITS = Limits(
    context_tokens=48, first_turn_tokens=20, turn_tokens=20, response_tokens=16, persona_sentences=3
)
# name -> the model's own options, beside SMALL
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer": ("transformer", {}),
    "multitask": ("multitask", {"tied": False}),
    "ensemble": ("ensemble", {"beside": 5}),
    "moel": ("moel", LISTENERS),
    "modmoel last": ("modmoel", {**LISTENERS, "persona": "last"}),
    "modmoel primary": ("modmoel", {**LISTENERS, "persona": "primary"}),
    "modmoel all": ("modmoel", {**LISTENERS, "conditions": ["act", "intent", "mechanisms"]}),
}
FEELINGS = ("proud", "afraid", "lonely", "joyful", "guilty", "hopeful")
THINGS = ("garden", "exam", "brother", "bicycle", "kitchen", "letter")


def felt_talks(count: int) -> list[GenerationExample]:
    """Each with an emotion, a persona of the one who answers, and labels; no two alike."""
    found = []
    for number in range(count):
        feeling, thing = FEELINGS[number % 6], THINGS[(number // 6 + number) % 6]
        turns = [Turn(Role.SEEKER, f"I feel {feeling} about my {thing}.")]
        if number % 2:
            turns += [Turn(Role.SUPPORTER, "tell me more"), Turn(Role.SEEKER, f"the {thing} is new")]
        own = (f"i have a {THINGS[(number + 2) % 6]}", "i like tea")[: 1 + number % 2] if number % 3 else ()
        labels = ResponseLabels(
            feeling, DAILY_ACTS[number % 4], INTENTS[number % len(INTENTS)], (number % 3, 0, number % 2)
        )
        response = f"so you are {feeling}, and your {thing} is why{'!' * (1 + number % 3)}"
        found.append(GenerationExample(Prompt(tuple(turns), own_persona=own), response, labels=labels))
    return found


class Told:
    """Features beside the context that depend on its words alone."""

    def __init__(self, size: int):
        self.size = size

    def features(self, prompts: Sequence[Prompt]) -> Any:
        import numpy as np

        rows = [
            [len(prompt.turns[0].text) / (10 + place) for place in range(self.size)] for prompt in prompts
        ]
        return np.asarray(rows, np.float32)


def small_empathetic(
    name: str, *, seed: int = 0, emotions: int = len(ED_EMOTIONS), **options: Any
) -> EmpatheticGenerator:
    """One of MODELS, with weights that are no longer all alike at their ends."""
    kind, own = MODELS[name]
    texts = [
        text for each in felt_talks(12) for text in (*(t.text for t in each.prompt.turns), each.response)
    ]
    vocabulary = word_vocabulary().fit(
        [*texts, *(s for each in felt_talks(12) for s in each.prompt.own_persona)]
    )
    own = {**SMALL, **own, **options}
    card = EmpatheticCard(
        kind,
        LIMITS,
        vocabulary.size,
        emotions=emotions,
        options=own,
        beside="told" if "beside" in own else "",
    )
    torch.manual_seed(seed)
    model = build_empathetic(card)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return EmpatheticGenerator(model, card, vocabulary, frozen=Told(own.get("beside", 0)))


def batch_of(generator: EmpatheticGenerator, examples: Sequence[GenerationExample]) -> EmpatheticBatch:
    beside = generator._beside([example.prompt for example in examples])
    data = EmpatheticDataset(examples, generator.tokenizer, generator.layout, beside=beside)
    return data.batch(list(range(len(examples))))


def learn_by_heart(
    generator: EmpatheticGenerator,
    examples: Sequence[GenerationExample],
    steps: int = 200,
    learning: Learning | None = None,
) -> dict[str, float]:
    """The losses after so many steps on the same examples."""
    model = generator.module.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    batch = batch_of(generator, examples)
    for _ in range(steps):
        losses = generator.model.losses(batch, learning or Learning())
        optimizer.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        optimizer.step()
    return {name: float(loss.detach()) for name, loss in losses.items()}
