"""A listener whose bundle carries a persona extractor: what it learns, and what that costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from persona_models import learned_extractor, ranker_beside, tellings

from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.listener.listener import Listener
from allears.models.reader.saved import ReaderCard, TorchReader
from allears.models.reader.saved import build as build_reader
from allears.personas.constraint import Lexicon
from allears.personas.noting import NotingExtractor
from allears.runtime import onnx_extractor as runtime
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.text.layout import Limits
from allears.training.export.bundle import export_together
from allears.training.export.screen import add_screen
from tiny_models import calm_screen

EXAMPLES = tellings(32)
TOLD = [each for each in EXAMPLES if each.persona]
QUESTION = next(each for each in EXAMPLES if not each.persona)
REPLIES = ["What happened?", "How long has it been like that?", "That is great news!", "Take care."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bundles on one encoder, with and without an extractor, and a pool."""
    folder = tmp_path_factory.mktemp("listener")
    extractor = learned_extractor(folder / "learned", EXAMPLES)
    ranker = ranker_beside(extractor, similarity="cosine", pooled=True)
    names = ("ed-emotion-turns", "strategy")
    card = ReaderCard(
        {name: head(name).labels for name in names},
        Limits(context_tokens=60),
        extractor.model.encoder.config,
        {"rationales": []},
    )
    torch.manual_seed(1)
    reader = TorchReader(build_reader(card, extractor.model.encoder), card, extractor.tokenizer)
    export_together(ranker, folder / "with", reader=reader, extractor=extractor)
    export_together(ranker, folder / "without", reader=reader)
    for bundle in ("with", "without"):
        add_screen(folder / bundle, calm_screen(ranker))
    rows = [{"text": text, "strategy": "Question"} for text in REPLIES]
    (folder / "pool.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return folder


def listener_of(folder: Path, bundle: str) -> Listener:
    return Listener.from_bundle(
        folder / bundle,
        pools=[folder / "pool.jsonl"],
        shipped=False,
        cache=folder / "cache",
        persona="written" if bundle == "with" else "said",
        voice="chosen",
    )


@pytest.fixture(scope="module")
def listener(folder: Path) -> Listener:
    return listener_of(folder, "with")


def encoded_texts(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each pass of the encoder reads, from now on; whoever asks."""
    passes: list[int] = []
    run = listener.selector.encoder.run
    monkeypatch.setattr(
        listener.selector.encoder, "run", lambda ids, *a, **k: passes.append(len(ids)) or run(ids, *a, **k)
    )
    return passes


def test_the_bundles_extractor_is_used_on_the_open_encoder(listener: Listener):
    assert isinstance(listener.extractor, OnnxExtractor)
    assert listener.extractor.encoder is listener.selector.encoder


def test_what_the_extractor_writes_is_learned_with_its_turn(listener: Listener):
    first = listener.respond(QUESTION.utterance)
    assert not first.why.learned
    reply = listener.respond(TOLD[0].utterance, first.conversation)
    assert [each.text.lower() for each in reply.why.learned] == [
        f"{text.strip().lower()}." for text in TOLD[0].persona.split(".") if text.strip()
    ]
    assert {each.source for each in reply.why.learned} == {"turn 3"}


def test_remembering_costs_no_pass_of_the_encoder(
    listener: Listener, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    passes = encoded_texts(listener, monkeypatch)
    assert listener.respond(TOLD[0].utterance).why.learned
    assert passes == [2]  # the conversation and the message, which the extractor reads from there

    bare = listener_of(folder, "without")
    same = encoded_texts(bare, monkeypatch)
    bare.respond(TOLD[0].utterance)
    assert same == passes


def test_the_words_that_may_be_written_are_looked_up_once_and_not_every_turn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    listener = listener_of(folder, "with")
    made: list[int] = []
    monkeypatch.setattr(runtime, "Lexicon", lambda *given: made.append(1) or Lexicon(*given))
    for each in TOLD[:3]:
        assert listener.respond(each.utterance).why.learned
    assert made == [1]


def test_a_message_that_the_ranker_cuts_is_read_again_whole(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
):
    limits = listener.extractor.card.lengths  # type: ignore[attr-defined]
    passes = encoded_texts(listener, monkeypatch)
    long = " ".join(each.utterance for each in TOLD[:4])
    assert len(listener.selector.tokenizer.encode_many([long])[0]) > limits.utterance_tokens
    assert listener.respond(long).why.learned
    assert passes[0] == 2
    assert len(passes) == 3  # all its parts together, once for the screen and once for the extractor


def test_several_people_at_once_are_remembered_as_each_would_be_alone(listener: Listener):
    before = listener.respond(TOLD[1].utterance).conversation
    messages = [TOLD[0].utterance, QUESTION.utterance, TOLD[2].utterance, "猫が好きです。"]
    talks = [None, before, None, None]
    together = listener.respond_many(messages, talks, seeds=[0] * 4)
    alone = [listener.respond(message, talk) for message, talk in zip(messages, talks, strict=True)]
    assert [reply.why.learned for reply in together] == [reply.why.learned for reply in alone]
    assert [reply.conversation.personas for reply in together] == [
        reply.conversation.personas for reply in alone
    ]
    assert together[0].why.learned
    assert not together[3].why.learned


def test_without_an_extractor_in_the_bundle_sentences_are_kept_as_they_are(folder: Path):
    listener = listener_of(folder, "without")
    assert isinstance(listener.extractor, NotingExtractor)
    reply = listener.respond("I have a boat in Oslo.")
    assert [each.text for each in reply.why.learned] == ["I have a boat in Oslo."]


def test_a_turn_that_is_remembered_imports_no_torch(folder: Path, listener: Listener):
    code = f"""
import sys
from pathlib import Path
from allears.listener.listener import Listener
folder = Path({str(folder)!r})
listener = Listener.from_bundle(
    folder / "with", pools=[folder / "pool.jsonl"], shipped=False, cache=folder / "cache", persona="written",
    voice="chosen",
)
assert listener.respond({TOLD[0].utterance!r}).why.learned
print(*[name for name in ("torch", "transformers", "onnx", "pandas") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_bundle_without_an_extractor_cannot_write_a_persona(folder: Path):
    with pytest.raises(AllearsError, match="carries no persona extractor"):
        Listener.from_bundle(folder / "without", cache=folder / "cache", persona="written")
    with pytest.raises(AllearsError, match="must be one of said, written"):
        Listener.from_bundle(folder / "without", cache=folder / "cache", persona="guessed")
