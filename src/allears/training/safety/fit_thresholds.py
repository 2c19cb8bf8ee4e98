"""How sure the learned screen must be: python -m allears.training.safety.fit_thresholds [BUNDLE]

Every threshold is the lowest that keeps false alarms rare on valid: on the crisis talks' harmless conversations, on our
own talks, and on everyday messages of published conversations (ED, DailyDialog, ESConv in ALLEARS_DATA). Written to
thresholds.toml, with what it makes of the valid dangers. The test split is not touched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.corpora.heads import HEADS
from allears.safety.bundled_screen import OnnxScreen
from allears.safety.dangers import ALL_CLEAR, DOUBTFUL, HEAD, LABELS
from allears.safety.screen import ReadsDanger, danger_shares, parts
from allears.safety.thresholds import Thresholds
from allears.text.reading import Reading
from allears.training.safety.harmless import (
    embedded,
    everyday_messages,
    everyday_sentences,
    harmless_talk,
    single_cases,
)

# Of harmless messages: how many may be called clear, and how many may be asked about. A conversation has about six.
CLEAR_ALARMS, DOUBT_ALARMS = 0.0025, 0.0100
PART_CLEAR_ALARMS, PART_DOUBT_ALARMS = 0.0010, 0.0030  # in addition, by a part of a long message alone
HARD_CLEAR_ALARMS, HARD_DOUBT_ALARMS = 0.02, 0.06  # of messages that were written to sound like danger
EVERYDAY, TALK, EMBEDDED = 4000, 2400, 1500
FALSE_CALM = 0.04  # of answers that are no all-clear, how many may be taken for one
LOWEST = 0.02

Values = npt.NDArray[np.floating]


def threshold_for(scores: Values, share: float) -> float:
    """The lowest threshold that at most this share of the scores reach."""
    if not len(scores):
        return LOWEST
    ordered = np.sort(scores)[::-1]
    return float(min(0.995, max(LOWEST, np.nextafter(ordered[int(share * len(scores))], 1) + 1e-4)))


def scores(reader: ReadsDanger, readings: Sequence[Reading]) -> tuple[Values, Values]:
    """(clear, clear or doubt) of each reading."""
    found = reader.answers(readings)[HEAD]
    clear = danger_shares(found)
    return clear, clear + found[:, LABELS.index(DOUBTFUL)]


def part_scores(reader: ReadsDanger, messages: Sequence[str]) -> tuple[Values, Values]:
    """The same of the worst part of each message; 0 for a short one."""
    pieces = [parts(message) for message in messages]
    clear, doubt = np.zeros(len(messages)), np.zeros(len(messages))
    flat = [Reading((Turn(Role.SEEKER, piece),)) for row in pieces for piece in row]
    if flat:
        found, start = scores(reader, flat), 0
        for place, row in enumerate(pieces):
            if row:
                clear[place] = found[0][start : start + len(row)].max()
                doubt[place] = found[1][start : start + len(row)].max()
                start += len(row)
    return clear, doubt


def fit(reader: ReadsDanger, seed: int = 0) -> tuple[Thresholds, dict[str, float]]:
    talks = harmless_talk("valid", TALK, seed)
    everyday = [Reading((Turn(Role.SEEKER, text),)) for text in everyday_messages("valid", EVERYDAY, seed)]
    usual = [*talks, *everyday]
    own = HEADS["danger"].read("valid")
    hard = [each for each in own if each.label == LABELS[0]]
    cases = single_cases("valid")
    long = embedded(cases, everyday_sentences("valid"), EMBEDDED, seed)
    harmless_long = [each for each in long if each.label == LABELS[0]]

    clear, doubt = scores(reader, usual)
    hard_clear, hard_doubt = scores(reader, hard)
    clear_at = max(threshold_for(clear, CLEAR_ALARMS), threshold_for(hard_clear, HARD_CLEAR_ALARMS))
    doubt_at = max(threshold_for(doubt, DOUBT_ALARMS), threshold_for(hard_doubt, HARD_DOUBT_ALARMS))
    parts_clear, parts_doubt = part_scores(reader, [_last(each) for each in (*usual, *hard)])
    part_clear, part_doubt = (
        max(level, threshold_for(found, share))
        for level, found, share in (
            (clear_at, parts_clear, PART_CLEAR_ALARMS),
            (doubt_at, parts_doubt, PART_DOUBT_ALARMS),
        )
    )
    answers = HEADS["all-clear"].read("valid")
    calm = reader.answers(answers)[ALL_CLEAR][:, 1]
    honest = np.array([each.label == "yes" for each in answers])
    all_clear = max(0.3, threshold_for(calm[~honest], FALSE_CALM))
    found = Thresholds(clear_at, doubt_at, part_clear, part_doubt, max(LOWEST, clear_at / 4), all_clear)

    danger = [each for each in own if each.label not in (LABELS[0], DOUBTFUL)]
    danger_clear, danger_doubt = scores(reader, danger)
    single = [case for case in cases if case.label != LABELS[0]]
    single_clear, single_doubt = scores(reader, single)
    figures = {
        "talks_clear": _percent(danger_clear >= clear_at),
        "talks_found": _percent((danger_clear >= clear_at) | (danger_doubt >= doubt_at)),
        "cases_clear": _percent(single_clear >= clear_at),
        "cases_found": _percent((single_clear >= clear_at) | (single_doubt >= doubt_at)),
        "usual_clear": _percent(clear >= clear_at),
        "usual_raised": _percent((clear >= clear_at) | (doubt >= doubt_at)),
        "hard_clear": _percent(hard_clear >= clear_at),
        "all_clears_accepted": _percent(calm[honest] >= all_clear),
        "long_harmless_raised": _percent(
            part_scores(reader, [_last(each) for each in harmless_long])[0] >= part_clear
        ),
    }
    return found, figures


def _last(reading: Reading) -> str:
    return reading.turns[-1].text


def _percent(which: npt.NDArray[np.bool_]) -> float:
    return round(100 * float(which.mean()), 2) if len(which) else 0.0


def main() -> None:
    bundle = sys.argv[1] if len(sys.argv) > 1 else "default"
    found, figures = fit(OnnxScreen.from_bundle(bundle))
    lines = [
        "# How sure the crisis screen must be. Made by python -m allears.training.safety.fit_thresholds",
        "",
        "[thresholds]",
        *(f"{name} = {value:.4f}" for name, value in asdict(found).items()),
        "",
        "[on_valid] # in percent",
        *(f"{name} = {value}" for name, value in figures.items()),
    ]
    target = Path(str(files("allears.safety"))) / "thresholds.toml"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
