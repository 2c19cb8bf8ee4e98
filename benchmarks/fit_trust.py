"""Which replies from the pool are to be trusted? Fits `allears.listener.trust.Doubt` to what two readers judged.

    python benchmarks/fit_trust.py

Prints the coefficients, how well those of one reader's replies tell another's apart (area under the curve), and how
many replies of each mark would be kept where doubt is below 0. The messages and talks in `judged_replies.jsonl` are the
readers' own (language models, each with a fresh context); the replies are those of two versions of the listener, mixed,
so that a reader did not know which. The third reader came when the fit was in use, and judged the listener before all
this and with it; the fourth and the fifth judged it without occasions and with them, the sixth without answered
messages and with them. Their marks are only counted.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from allears.conversation import Role, Turn
from allears.listener.pool import shipped_pool
from allears.listener.ranking import highest_score
from allears.listener.trust import MOST_CLAIMS
from allears.listener.turn_state import CONTEXT_TURNS
from allears.listener.wording import claims, implied, stems, words
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query

JUDGED = Path(__file__).with_name("judged_replies.jsonl")
OFF = "off"
HELD_OUT = (3, 4, 5, 6)  # the readers whose marks nothing is fitted to
NAMES = ("near", "told", "length", "claimed")


def features(row: dict[str, Any], selector: OnnxSelector) -> list[float]:
    """What `Doubt` is told of a reply, in the order of its fields."""
    lines, reply = row["turns"], row["reply"]
    turns = tuple(Turn((Role.SEEKER, Role.SUPPORTER)[place % 2], line) for place, line in enumerate(lines))
    states = selector.encode_responses([reply])
    scores = selector.score([Query(turns[-CONTEXT_TURNS:])], states, np.zeros((1, 1), np.int64))
    said = stems(lines[::2])
    claimed = len(claims(reply) - said - implied(said))
    return [
        float(scores[0, 0]) / highest_score(selector.card, persona=False),
        float(np.log(max(1, len(words(lines[-1]))))),
        float(np.log(max(1, len(words(reply))))),
        float(min(MOST_CLAIMS, claimed)),
    ]


def fitted(rows: npt.NDArray[Any], off: npt.NDArray[Any]) -> LogisticRegression:
    return LogisticRegression(C=10).fit(rows, off)


def main() -> None:
    written = {proposal.text for proposal in shipped_pool()}
    judged = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    for reader, version in dict.fromkeys(
        (row["reader"], row["version"]) for row in judged if "version" in row
    ):
        marks = Counter(row["mark"] for row in judged if row.get("version") == version)
        print(f"reader {reader}, {version}:", dict(marks))
    judged = [row for row in judged if row["reply"] in written and row["reader"] not in HELD_OUT]
    selector = OnnxSelector.from_bundle("default")
    found = np.array([features(row, selector) for row in judged])
    off = np.array([row["mark"] == OFF for row in judged])
    readers = np.array([row["reader"] for row in judged])
    for one, other in ((1, 2), (2, 1)):
        model = fitted(found[readers == one], off[readers == one])
        area = roc_auc_score(off[readers == other], model.decision_function(found[readers == other]))
        print(f"fitted to reader {one}, area under the curve for reader {other}: {area:.2f}")
    model = fitted(found, off)
    print(
        "start",
        round(float(model.intercept_[0]), 2),
        dict(zip(NAMES, model.coef_[0].round(2).tolist(), strict=True)),
    )
    doubted = model.decision_function(found) > 0
    for name, chosen in (("trusted", ~doubted), ("doubted", doubted)):
        print(
            f"{name}:", dict(Counter(row["mark"] for row, kept in zip(judged, chosen, strict=True) if kept))
        )


if __name__ == "__main__":
    main()
