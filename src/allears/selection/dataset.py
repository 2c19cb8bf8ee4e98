"""Selection examples, tokenized once and cut into padded batches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allears.conversation import Example
from allears.nn.inputs import Inputs
from allears.text.layout import Limits, Row, Tokens, context_rows, flatten, pad_flat, pad_nested, plain_rows
from allears.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Layout:
    """Which inputs a model wants nested (a row per utterance or sentence)."""

    nested_context: bool = False
    nested_persona: bool = False


class SelectionDataset:
    """Random access to tokenized examples.

    Persona sentences are shuffled anew in every epoch and at most `limits.persona_sentences` of them are
    drawn; those contained in the response are left out, since they would give it away.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        tokenizer: Tokenizer,
        limits: Limits,
        layout: Layout,
        *,
        seed: int = 1,
        use_persona: bool = True,
    ):
        self.examples = list(examples)
        self.tokenizer, self.limits, self.layout, self.seed = tokenizer, limits, layout, seed
        texts = _numbered(
            text
            for example in self.examples
            for text in (
                *(turn.text for turn in example.context),
                example.response.text,
                *(example.persona.texts if use_persona else ()),
            )
        )
        pieces = tokenizer.encode_many(list(texts))

        def of(text: str) -> list[int]:
            return pieces[texts[text]]

        self.context_groups: list[list[Row]] = []
        self.responses: list[Row] = []
        self.personas: list[list[Row]] = []
        for example in self.examples:
            rows = context_rows(example.context, [of(turn.text) for turn in example.context], limits)
            self.context_groups.append(rows if layout.nested_context else [flatten(rows, tokenizer)])
            answer = example.response.text
            self.responses.append(
                flatten(plain_rows([of(answer)], limits.response_tokens, segment=1), tokenizer)
            )
            safe = [text for text in example.persona.texts if text not in answer] if use_persona else []
            self.personas.append(plain_rows([of(text) for text in safe], limits.persona_sentence_tokens, segment=1))
        # equal texts share a number: they are never each other's negatives
        same = _numbered(" ".join(example.response.text.split()) for example in self.examples)
        self.response_numbers = np.array(
            [same[" ".join(example.response.text.split())] for example in self.examples], np.int64
        )
        self.has_persona = use_persona and limits.persona_sentences > 0 and any(self.personas)
        self.lengths = np.array([sum(len(ids) for ids, _ in rows) for rows in self.context_groups])

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def fingerprint(self) -> str:
        """Changes when any text, turn or persona sentence of the data does."""
        digest = hashlib.sha256()
        for example in self.examples:
            for text in (*(t.text for t in example.context), example.response.text, *example.persona.texts):
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:16]

    def contexts(self, rows: Sequence[int]) -> Inputs:
        groups = [self.context_groups[row] for row in rows]
        return Inputs.from_tokens(self._padded(groups, self.layout.nested_context))

    def personas_of(self, rows: Sequence[int], epoch: int) -> Inputs | None:
        if not self.has_persona:
            return None
        groups = [self._drawn(row, epoch) for row in rows]
        if not self.layout.nested_persona:
            groups = [[flatten(group, self.tokenizer)] if group else [([], [])] for group in groups]
        return Inputs.from_tokens(self._padded(groups, self.layout.nested_persona))

    def _drawn(self, row: int, epoch: int) -> list[Row]:
        sentences = self.personas[row]
        order = np.random.default_rng((self.seed, epoch, row)).permutation(len(sentences))
        return [sentences[position] for position in order[: self.limits.persona_sentences]]

    def responses_of(self, rows: Sequence[int]) -> Inputs:
        return Inputs.from_tokens(pad_flat([self.responses[row] for row in rows], self.tokenizer.pad))

    def _padded(self, groups: list[list[Row]], nested: bool) -> Tokens:
        if nested:
            return pad_nested(groups, self.tokenizer)
        return pad_flat([group[0] for group in groups], self.tokenizer.pad)

    def batches(self, size: int, epoch: int, *, window: int = 20) -> list[list[int]]:
        """Batches of equal size whose contexts are about equally long, in random order.

        Examples are shuffled, sorted by length within windows of `window` batches, and cut: padding almost
        vanishes while every batch stays a random draw. A rest smaller than a batch is left out this epoch.
        """
        generator = np.random.default_rng((self.seed, epoch))
        order = generator.permutation(len(self))
        size = min(size, len(self))
        batches: list[list[int]] = []
        for start in range(0, len(order), size * window):
            part = order[start : start + size * window]
            part = part[np.argsort(self.lengths[part], kind="stable")]
            whole = len(part) // size * size
            if whole < len(part):  # leave out random ones, not always the longest
                part = np.delete(part, generator.choice(len(part), len(part) - whole, replace=False))
            batches += [part[i : i + size].tolist() for i in range(0, whole, size)]
        generator.shuffle(batches)
        return batches


def _numbered(texts) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for text in texts:
        numbers.setdefault(text, len(numbers))
    return numbers
