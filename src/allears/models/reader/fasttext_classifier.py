"""The ED paper's classifier: fastText, a bag of words and word pairs (Joulin et al. 2017).

Trained on one thread with a seed it always gives the same model, as long as its table is large: fastText 0.9.2
on one thread draws random numbers for the first tenth of its table only and takes the rest as the memory comes.
A table over 32 MiB comes from the system as zeros; a smaller one may hold anything, even what is not a number.
So the table has at least `LEAST_TABLE` bytes, whatever is asked for. Its own `.bin` format is not pickle, but
fastText checks little of what it reads: load models that you or people you trust have saved.

A text without a single known word (nothing, emoji only, another script) gets the labels' shares in training.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from allears.errors import AllearsError
from allears.runtime.classifier import Classifier, Labels, Probabilities, known_labels, label_sets
from allears.text.tokenizer import words

_PREFIX = "__label__"
LEAST_TABLE = 40 << 20
TRIES = 3
MODEL_FILE, CARD_FILE = "model.bin", "fasttext.json"


class FastTextClassifier(Classifier):
    """The defaults were chosen on ED's valid split, where they also suit ED-CUT."""

    def __init__(
        self,
        *,
        labels: Sequence[str] | None = None,
        epochs: int = 10,
        learning_rate: float = 0.3,
        word_ngrams: int = 2,
        size: int = 100,
        minimum_count: int = 1,
        buckets: int = 200_000,
        multi_label: bool = False,
        seed: int = 1,
    ):
        if word_ngrams < 2:  # without pairs there are no buckets, and the table is small
            raise AllearsError(f"word_ngrams must be at least 2, got {word_ngrams}")
        self.labels = labels
        self.epochs, self.learning_rate, self.word_ngrams = epochs, learning_rate, word_ngrams
        self.size, self.minimum_count, self.buckets = size, minimum_count, buckets
        self.multi_label, self.seed = multi_label, seed
        self.model_: Any = None
        self.shares_: tuple[float, ...] = ()  # of each label in training: the answer where no word is known
        self.words_: frozenset[str] = frozenset()

    def fit(self, texts: Sequence[str], labels: Sequence[Labels]) -> Self:
        fasttext = _fasttext()
        sets = label_sets(texts, labels)
        self.labels_ = known_labels(sets, self.labels)
        # Numbers, as a label's name may have spaces
        number = {label: f"{_PREFIX}{position}" for position, label in enumerate(self.labels_)}
        with TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            with path.open("w", encoding="utf-8") as file:
                # fastText reads from top to bottom: texts sorted by label would teach it the last one only
                for row in np.random.default_rng(self.seed).permutation(len(texts)):
                    file.write(f"{' '.join(number[name] for name in sets[row])} {_line(texts[row])}\n")
            self.model_ = self._train(fasttext, path)
        counts = Counter(name for names in sets for name in names)
        self.shares_ = tuple(counts[label] / len(sets) for label in self.labels_)
        self.words_ = frozenset(self.model_.get_words())
        return self

    def _train(self, fasttext: Any, path: Path) -> Any:
        """One model. Where it meets what is not a number, memory that held something else may be to blame: a table
        twice as large comes from elsewhere. If that does not help, the training really diverged."""
        table = max(self.buckets, LEAST_TABLE // (4 * self.size))
        for tried in range(TRIES):
            try:
                return fasttext.train_supervised(
                    str(path),
                    epoch=self.epochs,
                    lr=self.learning_rate,
                    wordNgrams=self.word_ngrams,
                    dim=self.size,
                    minCount=self.minimum_count,
                    bucket=table << tried,
                    loss="ova" if self.multi_label else "softmax",
                    thread=1,
                    seed=self.seed,
                    verbose=0,
                )
            except RuntimeError as error:  # "Encountered NaN."
                problem = error
        raise AllearsError(f"fastText's training diverged ({problem}); lower its learning_rate") from problem

    def predict_proba(self, texts: Sequence[str]) -> Probabilities:
        if self.model_ is None:
            raise AllearsError("this fastText classifier has learned nothing yet; call fit first")
        found = np.zeros((len(texts), len(self.labels_)))
        for row, text in enumerate(texts):
            line = _line(text)
            if self.words_.isdisjoint(line.split()):
                found[row] = self.shares_
                continue
            names, likely = self.model_.predict(line, k=-1)
            columns = [int(name.removeprefix(_PREFIX)) for name in names]
            found[row, columns] = np.clip(likely, 0.0, 1.0)  # fastText's tables give 1.00001 now and then
        if not self.multi_label:
            found /= np.maximum(found.sum(axis=1, keepdims=True), 1e-12)
        return found

    def save(self, folder: Path | str) -> None:
        if self.model_ is None:
            raise AllearsError("this fastText classifier has learned nothing yet; call fit first")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        card = {"labels": self.labels_, "shares": self.shares_, "multi_label": self.multi_label}
        (folder / CARD_FILE).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
        self.model_.save_model(str(folder / MODEL_FILE))

    @classmethod
    def load(cls, folder: Path | str) -> FastTextClassifier:
        """What `save` wrote. Not for files from people you do not trust."""
        folder = Path(folder)
        try:
            card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
            classifier = cls(multi_label=bool(card["multi_label"]))
            classifier.labels_, classifier.shares_ = tuple(card["labels"]), tuple(card["shares"])
        except FileNotFoundError:
            raise AllearsError(f"{folder}: no {CARD_FILE} here; give a folder that `save` wrote") from None
        except (ValueError, KeyError, TypeError) as error:
            raise AllearsError(f"{folder / CARD_FILE}: not a classifier's card ({error})") from error
        fasttext = _fasttext()
        try:
            classifier.model_ = fasttext.load_model(str(folder / MODEL_FILE))
        except ValueError as error:
            raise AllearsError(
                f"{folder / MODEL_FILE}: fastText cannot read the model ({error}); save it again"
            ) from error
        classifier.words_ = frozenset(classifier.model_.get_words())
        return classifier


def _line(text: str) -> str:
    """Words and marks with spaces between; what looks like a label is none."""
    return " ".join(words(text)).replace(_PREFIX, "label ")


def _fasttext() -> Any:
    try:
        import fasttext
    except ModuleNotFoundError as error:
        raise AllearsError('fastText is not installed; run pip install "allears[train]"') from error
    return fasttext
