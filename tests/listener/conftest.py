"""A listener with a tiny bundle and a few replies to choose from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from allears.corpora.heads import head
from allears.listener.listener import Listener
from allears.models.reader.saved import ReaderCard, TorchReader
from allears.models.reader.saved import build as build_reader
from allears.safety.screen import CrisisScreen
from allears.text.layout import Limits
from allears.training.export.bundle import export_with_reader
from allears.training.export.screen import add_screen
from tiny_models import calm_screen, tiny_selector

REPLIES = [
    ("Hello. What would you like to talk about?", "Others"),
    ("What happened?", "Question"),
    ("How long has it been like that?", "Question"),
    ("Your dog was your friend.", "Reflection of feelings"),
    ("You are allowed to be sad.", "Affirmation and Reassurance"),
    ("Would it help to write it down?", "Providing Suggestions"),
    ("That is great news!", "Affirmation and Reassurance"),
    ("Who else knows about it?", "Question"),
    ("It makes sense that you feel this way.", "Affirmation and Reassurance"),
    ("Take care, and come back whenever you like.", "Others"),
    ("I have been a human for forty years, so I know how it feels.", "Others"),
]


@pytest.fixture(scope="session")
def tiny_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listener")
    selector = tiny_selector(folder / "run", similarity="cosine", pooled=True)
    encoder = selector.model.encoder
    names = ("ed-emotion-turns", "strategy")
    card = ReaderCard(
        {name: head(name).labels for name in names},
        Limits(context_tokens=60),
        encoder.config,
        {"rationales": []},
    )
    torch.manual_seed(1)
    export_with_reader(
        selector, TorchReader(build_reader(card, encoder), card, selector.tokenizer), folder / "bundle"
    )
    add_screen(folder / "bundle", calm_screen(selector))
    return folder / "bundle"


@pytest.fixture(scope="session")
def listener(tiny_bundle: Path) -> Listener:
    """Its screen goes by phrases alone: a tiny one has learned nothing of danger."""
    pool = tiny_bundle.parent / "pool.jsonl"
    rows = [{"text": text, "strategy": strategy} for text, strategy in REPLIES]
    pool.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    opened = Listener.from_bundle(
        tiny_bundle, pools=[pool], shipped=False, cache=tiny_bundle.parent / "cache", voice="chosen"
    )
    opened.screen = CrisisScreen(None)
    return opened
