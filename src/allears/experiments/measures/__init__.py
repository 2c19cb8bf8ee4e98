"""The kinds of measurements: each asks one of the house's own evaluations, and keeps its flat numbers.

No metric is computed here that the house does not compute elsewhere. `command` is what a person would type.
"""

from __future__ import annotations

from allears.experiments.fingerprints import SHARED
from allears.experiments.measures.corpora import speaker_similarity, statistics, study, study_command
from allears.experiments.measures.costs import cost, cost_command, persona_cost, size, size_command
from allears.experiments.measures.generation import emotion_map, generation, replies
from allears.experiments.measures.kind import Kind, typed
from allears.experiments.measures.selection import choice, retrieval, selection
from allears.experiments.measures.understanding import persona_empathy, strategy_curve, understanding

KINDS: dict[str, Kind] = {
    "selection": Kind(selection, (*SHARED, "selection"), typed("evaluate selection")),
    "retrieval": Kind(retrieval, (*SHARED, "selection"), typed("evaluate selection")),
    "cost": Kind(cost, (*SHARED, "selection"), cost_command, timed=True),
    "persona-cost": Kind(persona_cost, (*SHARED, "selection"), typed("evaluate persona"), timed=True),
    "choice": Kind(choice, (*SHARED, "selection"), typed("evaluate selection")),
    "generation": Kind(generation, (*SHARED, "generation"), typed("evaluate generation")),
    "replies": Kind(replies, (*SHARED, "generation"), typed("evaluate generation")),
    "size": Kind(size, SHARED, size_command, timed=True),
    "understanding": Kind(understanding, (*SHARED, "understanding"), typed("evaluate understanding")),
    "strategy-curve": Kind(strategy_curve, (*SHARED, "understanding"), typed("analyse strategy-curve")),
    "emotion-map": Kind(emotion_map, (*SHARED, "generation"), typed("analyse emotion-map")),
    "persona-empathy": Kind(persona_empathy, (*SHARED, "understanding"), typed("analyse persona-empathy")),
    "statistics": Kind(statistics, ("corpora/statistics.py",), typed("data stats")),
    "speaker-similarity": Kind(
        speaker_similarity, ("corpora/speaker_similarity.py",), typed("reddit speaker-similarity")
    ),
    "study": Kind(study, ("study/analysis",), study_command),
}
