"""A language model that learned to tell who somebody is from what they say: too large for a bundle, a teacher for one.

<utterance> => <persona sentences, or "nothing"> <end>          the loss is on what stands behind the arrow

It writes down what unlabelled utterances tell; a small extractor learns from that beside what people wrote
(sequence-level distillation, Kim and Rush 2016).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.language_models import load_chat_tokenizer, load_language_model
from allears.nn.weights import load_weights, save_weights, write_text
from allears.personas.examples import Telling
from allears.runtime.runs import MODEL_FILE, best, saved_card

KIND = "persona-teacher"
ARROW, NOTHING = " =>", " nothing"
MOST_SAID, MOST_TOLD = 128, 64  # tokens
BATCH = 256


@dataclass(frozen=True, slots=True)
class TeacherCard:
    base: str  # a language model by name, whose tokenizer and shape it has
    kind: str = KIND


class PersonaTeacher:
    """A language model with its tokenizer, on any torch device."""

    def __init__(self, model: nn.Module, tokenizer: Any, card: TeacherCard, *, device: str = "cpu"):
        self.model, self.tokenizer, self.card, self.device = model.to(device), tokenizer, card, device
        self.end: int = tokenizer.end

    @classmethod
    def from_base(cls, name: str, device: str = "cpu") -> PersonaTeacher:
        return cls(load_language_model(name), load_chat_tokenizer(name), TeacherCard(name), device=device)

    def asked(self, utterances: Sequence[str]) -> list[list[int]]:
        """What it reads of each utterance."""
        arrow = self.tokenizer.encode_many([ARROW])[0]
        texts = [" ".join(each.split()) for each in utterances]
        return [[*ids[:MOST_SAID], *arrow] for ids in self.tokenizer.encode_many(texts)]

    def told(self, personas: Sequence[str]) -> list[list[int]]:
        """What it is to write for each, its end included."""
        texts = [f" {each}" if each else NOTHING for each in personas]
        return [[*ids[:MOST_TOLD], self.end] for ids in self.tokenizer.encode_many(texts)]

    def loss(self, tellings: Sequence[Telling]) -> Tensor:
        """Mean of -log P over the tokens behind the arrow."""
        asked = self.asked([each.utterance for each in tellings])
        told = self.told([each.persona for each in tellings])
        longest = max(len(first) + len(second) for first, second in zip(asked, told, strict=True))
        ids = torch.full((len(asked), longest), self.end)
        targets = torch.full_like(ids, -100)
        for row, (first, second) in enumerate(zip(asked, told, strict=True)):
            ids[row, : len(first) + len(second)] = torch.tensor([*first, *second])
            targets[row, len(first) : len(first) + len(second)] = torch.tensor(second)
        logits = self.model(input_ids=ids.to(self.device)).logits  # padded on the right: nobody looks ahead
        return F.cross_entropy(
            logits[:, :-1].flatten(0, 1).float(), targets[:, 1:].flatten().to(self.device), ignore_index=-100
        )

    @torch.inference_mode()
    def write(self, utterances: Sequence[str]) -> list[str]:
        """What each utterance tells, as one text; "" for nothing. Greedy."""
        self.model.eval()
        asked = self.asked(utterances)
        order = sorted(range(len(asked)), key=lambda row: len(asked[row]))
        found = [""] * len(asked)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            for row, text in zip(rows, self._written([asked[row] for row in rows]), strict=True):
                found[row] = "" if text == NOTHING.strip() else text
        return found

    def _written(self, asked: Sequence[list[int]]) -> list[str]:
        longest = max(map(len, asked))
        ids = torch.tensor([[self.end] * (longest - len(each)) + each for each in asked])
        mask = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in asked])
        written = self.model.generate(  # type: ignore[operator]  # nn.Module does not know transformers' methods
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            max_new_tokens=MOST_TOLD,
            do_sample=False,
            eos_token_id=self.end,
            pad_token_id=self.end,
        )
        return [self.tokenizer.text(each) for each in written[:, longest:].tolist()]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        card = {"base": self.card.base, "kind": KIND}
        write_text(folder / MODEL_FILE, json.dumps(card, indent=1) + "\n")
        save_weights(folder / "model.safetensors", TeacherWeights(self.model))


def load(folder: Path | str, device: str = "cpu") -> PersonaTeacher:
    """The teacher in a run folder (or in its `best/`)."""
    folder = best(folder)
    saved = saved_card(folder, KIND, "teacher; train one with recipes/persona-teacher.toml")
    teacher = PersonaTeacher.from_base(saved["base"])
    load_weights(folder / "model.safetensors", TeacherWeights(teacher.model))
    return PersonaTeacher(teacher.model, teacher.tokenizer, teacher.card, device=device)


class TeacherWeights(nn.Module):
    """All that a language model learns, each weight once: an output that shares the words' vectors is the body's."""

    def __init__(self, model: Any):
        super().__init__()
        self.body = model.base_model
        if model.get_output_embeddings().weight is not model.get_input_embeddings().weight:
            self.head = model.get_output_embeddings()
