"""From a reader of danger alone (recipes/crisis-screen.toml) to the screen of a bundle: `add_screen`."""

from __future__ import annotations

from pathlib import Path

from allears.conversation import Role, Turn
from allears.models.reader.saved import TorchReader
from allears.runtime.bundle import BundleCard
from allears.safety.bundled_screen import SCREEN_CARD_FILE, SCREEN_FILE, SCREEN_HEADS, OnnxScreen
from allears.text.reading import Reading
from allears.training.export.own_encoder import OwnEncoderPart, add_own_encoder

SAID = (
    "I want to hurt myself tonight.",
    "He hits me and I cannot leave.",
    "We had soup on the balcony, and the neighbours came by.",
    "This exam is killing me!",
    "Nobody would miss me.",
)
SCREEN = OwnEncoderPart(
    "screen",
    SCREEN_HEADS,
    SCREEN_FILE,
    SCREEN_CARD_FILE,
    "recipes/crisis-screen.toml",
    tuple(Reading((Turn(Role.SEEKER, text),)) for text in SAID),
    OnnxScreen,
)


def add_screen(folder: Path | str, reader: TorchReader) -> BundleCard:
    """Write a screen into an int8 bundle and return its new card; a screen that was there is replaced."""
    return add_own_encoder(folder, reader, SCREEN)
