"""EmoPrepend-k and TopicPrepend-k (Rashkin et al. 2019, section 4.3): what a classifier says, in front of the words.

    original:      i finally got promoted !
    prepend-1:     proud i finally got promoted !
    prepend-3:     proud joyful excited i finally got promoted !

Nothing else changes: any generator reads contexts with labels in front (`Prepend.labels_of`), and any retrieval model
contexts and candidates (`Prepend.contexts`, `Prepend.in_front`). The classifier is the paper's fastText, fitted on the
descriptions of EmpatheticDialogues' situations (32 emotions) or on 20 Newsgroups (20 topics), or any reader that has
those heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.models.reader.loading import FASTTEXT, ClassifierModel, ReadingModel, load_reading_model
from allears.runtime.generator import Prompt
from allears.text.reading import Reading

KINDS = {"emotion": "ed-emotion", "topic": "topic"}
FOLDER = "prepend"  # in a run: the fitted classifier
READ_AT_ONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class PrependOptions:
    """[prepend] in a recipe, for generation and selection alike."""

    kind: str  # emotion | topic
    count: int = 1
    classifier: str = FASTTEXT


@dataclass(frozen=True, slots=True)
class Prepend:
    """The `count` likeliest labels of a `kind`, best first, as words."""

    kind: str
    count: int
    classifier: str
    model: ReadingModel

    @classmethod
    def build(
        cls,
        kind: str,
        count: int,
        classifier: str = FASTTEXT,
        *,
        root: Path | str | None = None,
        folder: Path | None = None,
    ) -> Prepend:
        """With the classifier of a run's `folder`, where it has one; otherwise loaded or fitted."""
        if kind not in KINDS:
            raise AllearsError(f"recipe: prepend.kind is one of {', '.join(KINDS)}; got {kind!r}")
        labels = head(KINDS[kind]).labels
        if not 1 <= count <= len(labels):
            raise AllearsError(f"recipe: prepend.count is a number from 1 to {len(labels)}; got {count}")
        if folder is not None and (folder / FOLDER).is_dir():
            from allears.models.reader.fasttext_classifier import FastTextClassifier

            return cls(kind, count, classifier, ClassifierModel(FastTextClassifier.load(folder / FOLDER)))
        return cls(kind, count, classifier, load_reading_model(classifier, head(KINDS[kind]), root))

    @property
    def settings(self) -> dict[str, Any]:
        """For a model's card: what `build` needs."""
        return {"kind": self.kind, "count": self.count, "classifier": self.classifier}

    @property
    def words(self) -> list[str]:
        """All labels as words, for a vocabulary that has to know them."""
        return [_word(label) for label in head(KINDS[self.kind]).labels]

    def labels_of(self, prompts: Sequence[Prompt]) -> list[tuple[str, ...]]:
        """For each prompt's context, all of it read as one text."""
        return self._labels([_whole(prompt.turns) for prompt in prompts])

    def contexts(self, contexts: Sequence[tuple[Turn, ...]]) -> list[tuple[Turn, ...]]:
        """The same for retrieval models: the labels stand in the first turn."""
        found = self._labels([_whole(turns) for turns in contexts])
        return [
            (replace(turns[0], text=" ".join((*labels, turns[0].text))), *turns[1:]) if turns else turns
            for labels, turns in zip(found, contexts, strict=True)
        ]

    def in_front(self, texts: Sequence[str]) -> list[str]:
        """Candidates with their labels in front."""
        return [" ".join((*labels, text)) for labels, text in zip(self._labels(texts), texts, strict=True)]

    def _labels(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        asked = head(KINDS[self.kind])
        distinct = list(dict.fromkeys(texts))
        found: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(distinct), READ_AT_ONCE):
            part = distinct[start : start + READ_AT_ONCE]
            readings = [Reading((Turn(Role.SEEKER, text),)) for text in part]
            likely = np.asarray(self.model.probabilities(asked, readings))
            best = np.argsort(-likely, axis=1, kind="stable")[:, : self.count]
            found |= {
                text: tuple(_word(asked.labels[column]) for column in columns)
                for text, columns in zip(part, best.tolist(), strict=True)
            }
        return [found[text] for text in texts]

    def save(self, folder: Path) -> None:
        """A fitted classifier goes with the run; a reader is found by its name."""
        if isinstance(self.model, ClassifierModel):
            self.model.classifier.save(folder / FOLDER)  # type: ignore[attr-defined]


def _whole(turns: Sequence[Turn]) -> str:
    return " ".join(turn.text for turn in turns)


def _word(label: str) -> str:
    """One word, so that a word-level vocabulary has one vector for it: "sci.space" is "sci-space"."""
    return label.replace(".", "-")
