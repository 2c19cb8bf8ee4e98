"""What a voice would say at every place of a corpus: drafts to be marked, and to be preferred or not.

One line of JSON for each: `{"id": conversation, "turn": number from 1, "strategy": ..., "text": ...}`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from allears.conversation import Conversation, Role
from allears.runtime.talk_layout import END, prompt_text, split_reply, system_text
from allears.training.voice.model import VoiceModel

LONGEST = 64  # tokens of a reply


@dataclass(frozen=True, slots=True)
class Draft:
    """What was written instead of turn `turn` (from 1) of a conversation."""

    id: str
    turn: int
    strategy: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def places(talks: Iterable[Conversation], limit: int, seed: int) -> list[tuple[Conversation, int]]:
    """Supporter's turns (numbered from 1), a seeded sample."""
    found = [
        (talk, number)
        for talk in talks
        for number, turn in enumerate(talk.turns, 1)
        if turn.speaker is Role.SUPPORTER and number not in talk.labels.get("misses", ())
    ]
    return random.Random(seed).sample(found, min(limit, len(found))) if limit else found


def known_before(talk: Conversation) -> str:
    """What the voice is told before this conversation."""
    persona = talk.personas.get(Role.SEEKER.value)
    known = [each.text for each in persona.sentences if not each.source.startswith("turn")] if persona else []
    return system_text(known, days_since=talk.labels.get("days_since"))


def draw(
    model: VoiceModel,
    tokenizer: Any,
    wanted: Sequence[tuple[Conversation, int]],
    *,
    temperature: float = 0.8,
    top_p: float = 0.95,
    batch: int = 128,
) -> Iterator[Draft]:
    """One draft for each place, drawn with what was really said before it."""
    ordered = sorted(wanted, key=lambda each: sum(len(turn.text) for turn in each[0].turns[: each[1]]))
    for start in range(0, len(ordered), batch):
        part = ordered[start : start + batch]
        prompts = [prompt_text(talk.turns[: number - 1], known_before(talk)) for talk, number in part]
        for (talk, number), written in zip(
            part, write(model, tokenizer, prompts, temperature=temperature, top_p=top_p), strict=True
        ):
            yield Draft(talk.id, number, *split_reply(written))


@torch.inference_mode()
def write(
    model: VoiceModel, tokenizer: Any, prompts: Sequence[str], *, temperature: float, top_p: float
) -> list[str]:
    """What the voice writes after each prompt; greedy where the temperature is 0."""
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = END
    inputs = tokenizer(list(prompts), return_tensors="pt", padding=True, add_special_tokens=False)
    end = tokenizer.convert_tokens_to_ids(END)
    device = next(model.parameters()).device
    inputs = {
        name: value.to(device) for name, value in inputs.items() if name in ("input_ids", "attention_mask")
    }
    choice: dict[str, Any] = (
        {"do_sample": True, "temperature": temperature, "top_p": top_p, "top_k": 0}
        if temperature
        else {"do_sample": False}
    )
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        written = model.base.generate(
            **inputs, max_new_tokens=LONGEST, eos_token_id=end, pad_token_id=tokenizer.pad_token_id, **choice
        )
    new = written[:, inputs["input_ids"].shape[1] :]
    return [tokenizer.decode(row, skip_special_tokens=True) for row in new]
