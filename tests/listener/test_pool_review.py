"""The review of a pool: what it counts, and what it calls doubtful."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from allears.cli import app
from allears.listener.pool import Line
from allears.listener.pool.review import PoolReview, review_pool

LINES = (
    Line("What happened then?", "Question"),
    Line("You sound worn out.", "Reflection of feelings", ("sad",)),
    Line("Take care of yourself.", "Others"),
)


def review_of(levels):
    return PoolReview(LINES, np.array(levels), (), (), 0.0, 0.0, 0.0)


def test_doubtful_are_replies_without_what_their_strategy_is_for():
    found = review_of([[0, 0, 2], [0, 0, 1], [0, 0, 0]])
    assert found.doubtful() == [LINES[1]]
    assert review_of([[0, 0, 1], [1, 0, 0], [0, 0, 0]]).doubtful() == []


def test_shares_are_of_all_replies_or_of_a_strategy():
    found = review_of([[0, 0, 2], [0, 0, 1], [0, 0, 0]])
    assert found.shown("explorations") == pytest.approx(200 / 3)
    assert found.shown("explorations", "Question") == 100
    assert found.shown("explorations", "Information") == 0


def test_the_shipped_heads_tell_a_question_from_a_reflection_and_twins_are_found(tmp_path):
    from allears.models.selection.loading import load_selector
    from allears.runtime.onnx_reader import OnnxReader

    selector = load_selector("default")
    reader = OnnxReader.from_bundle("default", encoder=selector.encoder, tokenizer=selector.tokenizer)
    lines = [*LINES, Line("What happened then ?", "Question")]
    found = review_pool(lines, selector, reader)
    assert found.levels[0, 2] > found.levels[1, 2]
    assert ("What happened then?", "What happened then ?") in found.twins


def test_the_command_reviews_a_file(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        "".join(json.dumps({"text": line.text, "strategy": line.strategy}) + "\n" for line in LINES)
    )
    found = CliRunner().invoke(app, ["pool", "review", str(path), "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["replies"] == 3
    shown = CliRunner().invoke(app, ["pool", "review", str(path)])
    assert "together" in shown.stdout
    missing = CliRunner().invoke(app, ["pool", "review", str(tmp_path / "nowhere.jsonl")])
    assert missing.exit_code != 0
