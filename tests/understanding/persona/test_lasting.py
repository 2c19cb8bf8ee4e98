"""Which sentences are noted as lasting facts: the learned classifier, its file, and what it was fitted on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from allears.corpora.files import CorpusError
from allears.corpora.lasting import read_lasting
from allears.errors import AllearsError
from allears.personas.lasting import FILE, Floats, LastingExtractor, LastingWeights
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.persona.fit_lasting import lowest_threshold, sentence_vectors


def vectors(texts: Sequence[str]) -> Floats:
    """[1, 0] for what has "live" in it, [0, 1] for everything else."""
    return np.array([[1, 0] if "live" in text else [0, 1] for text in texts], np.float32)


WEIGHTS = LastingWeights(np.array([4, -4], np.float32), 0.0, 0.5, "x")


def test_sentences_about_the_person_that_last_are_noted_in_their_own_words():
    found = LastingExtractor(vectors, WEIGHTS).extract(
        ["yeah, i live in a boat. i cried all night!", "they live here. where do i live?", "hm"]
    )
    assert found == [("I live in a boat.",), (), ()]


def test_nothing_said_is_nothing_noted():
    assert LastingExtractor(vectors, WEIGHTS).extract([]) == []


def test_the_shipped_weights_belong_to_the_shipped_encoder_and_find_facts():
    selector, weights = OnnxSelector.from_bundle(), LastingWeights.read()
    assert weights.fingerprint == selector.fingerprint
    told = [
        "I have two kids and a dog called Rex.",
        "I am a nurse and work nights.",
        "I just sat down there.",
    ]
    likely = weights.likely(sentence_vectors(selector, told))
    assert min(likely[:2]) > weights.threshold > likely[2]


def test_a_damaged_file_is_one_sentence(tmp_path: Path):
    (tmp_path / "broken").write_bytes(FILE.read_bytes()[:40])
    save_file({"weights": np.zeros(2, np.float32)}, tmp_path / "bare")
    for name in ("broken", "bare", "missing"):
        with pytest.raises(AllearsError, match="fit_lasting"):
            LastingWeights.read(tmp_path / name)


def test_the_threshold_is_the_lowest_with_the_wanted_precision():
    chances = np.array([0.9, 0.8, 0.7, 0.6], np.float32)
    gold = np.array([True, True, False, True])
    assert lowest_threshold(chances, gold, 0.7) == pytest.approx(0.6)
    assert lowest_threshold(chances, gold, 1.0) == pytest.approx(0.8)
    assert lowest_threshold(chances, ~gold, 0.9) == pytest.approx(0.9)


def test_the_marked_sentences_are_read_and_a_broken_line_is_named(tmp_path: Path):
    assert sum(each.lasting for each in read_lasting("train")) > 1000
    row = {"id": "a", "turn": 1, "sentences": ["i live here", "ok"], "lasting": [True]}
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress((json.dumps(row) + "\n").encode()))
    with pytest.raises(CorpusError, match="true or false for each sentence"):
        list(read_lasting("train", tmp_path))
