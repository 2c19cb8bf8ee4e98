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
class SelectionLayout:
    """Which inputs a model wants nested (a row per utterance or sentence)."""

    nested_context: bool = False
    nested_persona: bool = False


class SelectionDataset:
    """Random access to tokenized examples.

    Persona sentences are shuffled anew in every epoch and at most `limits.persona_sentences` of them are
    drawn; those contained in the response are left out, since they would give it away. `groups` numbers the
    corpus of each example: a batch stays within one corpus, or its negatives could be told by style alone.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        tokenizer: Tokenizer,
        limits: Limits,
        layout: SelectionLayout,
        *,
        seed: int = 1,
        use_persona: bool = True,
        groups: Sequence[int] | None = None,
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
            self.personas.append(
                plain_rows([of(text) for text in safe], limits.persona_sentence_tokens, segment=1)
            )
        # equal texts share a number: they are never each other's negatives
        same = _numbered(" ".join(example.response.text.split()) for example in self.examples)
        self.response_numbers = np.array(
            [same[" ".join(example.response.text.split())] for example in self.examples], np.int64
        )
        self.groups = np.zeros(len(self.examples), np.int64) if groups is None else np.asarray(groups)
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

    def personas_of(self, rows: Sequence[int], epoch: int) -> Inputs:
        """At most `limits.persona_sentences` each, shuffled and drawn anew in every epoch; empty for who has none."""
        groups = [self._drawn(row, epoch) for row in rows]
        if not self.layout.nested_persona:
            groups = [[flatten(group, self.tokenizer)] if group else [([], [])] for group in groups]
        return Inputs.from_tokens(self._padded(groups, self.layout.nested_persona))

    def _drawn(self, row: int, epoch: int) -> list[Row]:
        sentences = self.personas[row]
        order = np.random.default_rng((self.seed, epoch, row)).permutation(len(sentences))
        return [sentences[position] for position in order[: self.limits.persona_sentences]]

    def responses_of(self, rows: Sequence[int], part: int) -> tuple[list[Inputs], np.ndarray]:
        """The responses, shortest first, in parts; and where each row's response stands in the joined parts."""
        order = np.argsort([len(self.responses[row][0]) for row in rows], kind="stable")
        parts = [
            Inputs.from_tokens(
                pad_flat([self.responses[rows[i]] for i in order[start : start + part]], self.tokenizer.pad)
            )
            for start in range(0, len(order), part)
        ]
        return parts, order.argsort()

    def _padded(self, groups: list[list[Row]], nested: bool) -> Tokens:
        if nested:
            return pad_nested(groups, self.tokenizer)
        return pad_flat([group[0] for group in groups], self.tokenizer.pad)

    def batches(self, size: int, epoch: int) -> list[list[int]]:
        """Random batches of equal size, in random order, each sorted by the length of its contexts.

        Sorted, a batch can be encoded in parts that need hardly any padding. The batches themselves are not made
        of equally long contexts: a long context is a late turn, and a model that never has to tell an early
        answer from a late one loses two points of R@1. A rest smaller than a batch is left out this epoch.
        """
        generator = np.random.default_rng((self.seed, epoch))
        batches: list[list[int]] = []
        for group in np.unique(self.groups):
            order = generator.permutation(np.flatnonzero(self.groups == group))
            whole = min(size, len(order))
            for start in range(0, len(order) - whole + 1, whole):
                rows = order[start : start + whole]
                batches.append(rows[np.argsort(self.lengths[rows], kind="stable")].tolist())
        generator.shuffle(batches)
        return batches


def _numbered(texts) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for text in texts:
        numbers.setdefault(text, len(numbers))
    return numbers
