"""What corpora are like, and what people said in a study."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from allears.conversation import Role
from allears.errors import AllearsError
from allears.experiments.contract import Measurement
from allears.experiments.measures.kind import Measures

if TYPE_CHECKING:
    from allears.experiments.lab import Lab


def statistics(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.statistics import measure, pec_table_1

    split = asked.option("split", "valid")
    read = lab.corpora.read_whole if asked.option("whole") else lab.corpora.read
    found = measure(read(asked.option("corpus"), split))
    if not found.conversations:
        raise AllearsError(f"the {split} split of {asked.option('corpus')} has no conversations")
    measures: Measures = {name: float(value.replace(",", "")) for name, value in pec_table_1(found)}
    for emotion, count in found.emotions.items():
        measures[f"share {emotion}"] = 100 * count / found.conversations
        for role in Role:
            measures[f"{role.value} words {emotion}"] = ", ".join(found.top_words(emotion, role, 3))
    return measures


def speaker_similarity(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.speaker_similarity import speaker_similarity

    # of the whole corpus also in the small setting: few conversations have nobody who answers often
    split = asked.option("split", "train")
    rows = speaker_similarity(talk for talk in lab.corpora.whole_reddit() if talk.split == split)
    measures: Measures = {
        "groups": len(rows),
        "people_less_alike": sum(row.people < row.random for row in rows),
    }
    for row in rows:
        measures |= {f"people {row.emotion}": row.people, f"random {row.emotion}": row.random}
    return measures


def study(lab: Lab, asked: Measurement) -> Measures:
    """Means by group of people's majority votes, from what `allears study export` wrote."""
    folder = lab.setting.study
    if folder is None:
        raise AllearsError(
            "no people were asked: give --study FOLDER, what `allears study export` writes of a study begun with "
            "`allears study new empathy-annotation`"
        )
    path = folder / "answers.jsonl"
    if not path.is_file():
        raise AllearsError(f"{path}: no such file; `allears study export STUDY --out {folder}` writes it")
    from allears.study.analysis.agreement import fleiss_kappa
    from allears.study.analysis.means import mean_with_sem
    from allears.study.assignment import majority

    values = asked.option("values")
    answers = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    measures: Measures = {}
    for question, numbers in dict(values).items():
        known = dict(numbers)
        votes: dict[str, list[str]] = {}
        groups: dict[str, str] = {}
        for row in answers:
            if row["question"] == question and row.get("state", "counted") == "counted":
                votes.setdefault(row["unit"], []).append(str(row["value"]))
                groups[row["unit"]] = row["group"]
        by_group: dict[str, list[float]] = {}
        for unit, chosen in votes.items():
            agreed = majority(iter(chosen))
            worth = [known[each] for each in chosen]
            by_group.setdefault(groups[unit], []).append(
                known[agreed] if agreed is not None else sum(worth) / len(worth)
            )
        for group, worths in by_group.items():
            mean = mean_with_sem(worths)
            measures[f"{question} {group}"] = mean.value
            if len(worths) > 1:
                measures |= {
                    f"{question} {group}_low": mean.value - 1.96 * mean.sem,
                    f"{question} {group}_high": mean.value + 1.96 * mean.sem,
                }
        full = max((len(each) for each in votes.values()), default=0)
        if full > 1:
            measures[f"{question} kappa"] = fleiss_kappa(
                [each for each in votes.values() if len(each) == full]
            )
    return measures


def study_command(lab: Lab, asked: Measurement) -> str:
    return "allears study export STUDY --out FOLDER"
