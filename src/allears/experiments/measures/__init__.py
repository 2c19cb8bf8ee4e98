"""The kinds of measurements: each asks one of the house's own evaluations, and keeps its flat numbers.

No metric is computed here that the house does not compute elsewhere. `command` is what a person would type.
"""

from __future__ import annotations

from allears.experiments.fingerprints import GENERATION, SELECTION, SHARED, UNDERSTANDING
from allears.experiments.measures.corpora import speaker_similarity, statistics, study, study_command
from allears.experiments.measures.costs import cost, cost_command, persona_cost, size, size_command
from allears.experiments.measures.generation import emotion_map, generation, replies
from allears.experiments.measures.kind import Kind, typed
from allears.experiments.measures.selection import choice, retrieval, selection
from allears.experiments.measures.understanding import persona_empathy, strategy_curve, understanding

KINDS: dict[str, Kind] = {
    "selection": Kind(selection, SELECTION, typed("evaluate selection")),
    "retrieval": Kind(retrieval, SELECTION, typed("evaluate selection")),
    "cost": Kind(cost, SELECTION, cost_command, timed=True),
    "persona-cost": Kind(persona_cost, SELECTION, typed("evaluate persona"), timed=True),
    "choice": Kind(choice, SELECTION, typed("evaluate selection")),
    "generation": Kind(generation, GENERATION, typed("evaluate generation")),
    "replies": Kind(replies, GENERATION, typed("evaluate generation")),
    "size": Kind(size, SHARED, size_command, timed=True),
    "understanding": Kind(understanding, UNDERSTANDING, typed("evaluate understanding")),
    "strategy-curve": Kind(strategy_curve, UNDERSTANDING, typed("analyse strategy-curve")),
    "emotion-map": Kind(emotion_map, GENERATION, typed("analyse emotion-map")),
    "persona-empathy": Kind(persona_empathy, UNDERSTANDING, typed("analyse persona-empathy")),
    "statistics": Kind(statistics, ("corpora/statistics.py",), typed("data stats")),
    "speaker-similarity": Kind(
        speaker_similarity, ("corpora/speaker_similarity.py",), typed("reddit speaker-similarity")
    ),
    "study": Kind(study, ("study/analysis",), study_command),
}
