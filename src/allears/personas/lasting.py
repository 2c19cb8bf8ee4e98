"""What is worth remembering of what somebody said, in their own words, as a learned classifier finds it.

p(lasting | sentence) = sigmoid(w · v + b)      v: the sentence's vector by the bundle's encoder, of length one

`lasting.safetensors` belongs to one encoder and says which; with another, the rules of `noting` are used.
`python -m allears.training.persona.fit_lasting` makes it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from allears.errors import AllearsError
from allears.personas.noting import without_lead_in
from allears.personas.plain import plain_words
from allears.personas.wording import sentences

FILE = Path(__file__).with_name("lasting.safetensors")
FEWEST_WORDS = 3
OWN = frozenset(
    ("i", "im", "i'm", "ive", "i've", "i'd", "i'll", "my", "mine", "me", "myself", "we", "our", "us")
)

Floats = npt.NDArray[np.float32]
Vectors = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, slots=True)
class LastingWeights:
    """Fitted on marked sentences; `threshold` was chosen on valid."""

    weights: Floats
    bias: float
    threshold: float
    fingerprint: str  # of the encoder

    @classmethod
    def read(cls, path: Path = FILE) -> LastingWeights:
        try:
            with safe_open(path, framework="np") as file:
                facts = file.metadata() or {}
                return cls(
                    file.get_tensor("weights"),
                    float(facts["bias"]),
                    float(facts["threshold"]),
                    facts["fingerprint"],
                )
        except (OSError, KeyError, ValueError, SafetensorError) as error:
            raise AllearsError(
                f"{path}: not the weights of lasting facts ({error}); make them with "
                "python -m allears.training.persona.fit_lasting"
            ) from error

    def likely(self, vectors: Floats) -> Floats:
        """[N]: how likely each sentence tells a lasting fact."""
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
        found: Floats = 1 / (1 + np.exp(-(unit @ self.weights + self.bias)))
        return found


class LastingExtractor:
    """Sentences about the person that tell something lasting; nothing is added to what was said."""

    def __init__(self, vectors: Vectors, weights: LastingWeights):
        self.vectors, self.weights = vectors, weights

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        told = [[each for each in sentences(utterance) if _is_own(each)] for utterance in utterances]
        flat = [each for row in told for each in row]
        if not flat:
            return [() for _ in utterances]
        lasting = iter(self.weights.likely(self.vectors(flat)) >= self.weights.threshold)
        return [tuple(without_lead_in(each) for each in row if next(lasting)) for row in told]


def _is_own(sentence: str) -> bool:
    words = plain_words(sentence)
    return len(words) >= FEWEST_WORDS and not OWN.isdisjoint(words) and not sentence.rstrip().endswith("?")
