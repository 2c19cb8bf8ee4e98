"""MIME, Figure 3: the emotions' vectors in a plane, with and without mimicry."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Experiment, Key, Picture, Plan, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MIME_NO_MIMICRY
from allears.labels import ED_EMOTIONS

RUNS = {"with mimicry": MIME, "without mimicry": MIME_NO_MIMICRY}
SUMMARY = {
    "variance in the plane, %": "explained",
    "nearest emotion of the same polarity, %": "neighbours",
    "nearest of the same polarity in the plane, %": "neighbours_in_plane",
}
AXES = tuple(f"{shown}: {axis}" for shown in RUNS for axis in ("first", "second"))


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for shown, run in RUNS.items():
        asked = measure("emotion-map", run)
        for row, name in SUMMARY.items():
            asks[row, shown] = take(name, asked)
        for emotion in ED_EMOTIONS:
            for axis in ("first", "second"):
                asks[emotion, f"{shown}: {axis}"] = take(f"{emotion} {axis}", asked)
    return Plan((*SUMMARY, *ED_EMOTIONS), (*RUNS, *AXES), asks)


EXPERIMENT = Experiment(
    name="mime-figure-3",
    paper="MIME",
    place="Figure 3",
    question="Does mimicry keep positive and negative emotions apart?",
    plan=plan,
    differs=(
        "The paper shows pictures only; how many emotions are nearest to one of their own polarity is our measure.",
    ),
    claims=(
        Claim(
            "With mimicry, emotions are nearer to those of their polarity",
            tuple(("nearest emotion of the same polarity, %", shown) for shown in RUNS),
            "The same with and without it: the emotion classifier, which shares these vectors, is enough to bring "
            "emotions of one polarity together.",
        ),
    ),
    decimals=2,
    picture=Picture("points", "first principal component", "second", AXES),
)
