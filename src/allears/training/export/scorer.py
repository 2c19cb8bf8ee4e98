"""From a reader of how replies fit (recipes/scorer.toml) to the scorer of a bundle: `add_scorer`."""

from __future__ import annotations

from pathlib import Path

from allears.conversation import Role, Turn
from allears.corpora.heads import fit_reading
from allears.models.reader.saved import TorchReader
from allears.runtime.bundle import BundleCard
from allears.runtime.onnx_scorer import FIT, SCORER_CARD_FILE, SCORER_FILE, OnnxScorer
from allears.training.export.own_encoder import OwnEncoderPart, add_own_encoder

LOST = (Turn(Role.SEEKER, "My dog ran away last night and I can't find him."),)
SCORER = OwnEncoderPart(
    "scorer",
    FIT,
    SCORER_FILE,
    SCORER_CARD_FILE,
    "recipes/scorer.toml",
    tuple(
        fit_reading(LOST, known, reply)
        for known in ((), ("I live alone.",))
        for reply in (
            "A whole night without him. Where did you see him last?",
            "Congratulations, that is wonderful news!",
            "Tell me more about that.",
        )
    ),
    OnnxScorer,
)


def add_scorer(folder: Path | str, reader: TorchReader) -> BundleCard:
    """Write a scorer into an int8 bundle and return its new card; a scorer that was there is replaced."""
    return add_own_encoder(folder, reader, SCORER)
