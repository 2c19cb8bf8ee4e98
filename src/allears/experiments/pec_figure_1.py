"""PEC, Figure 1: two people's responses are less alike than chance."""

from __future__ import annotations

from allears.experiments.contract import Ask, Empty, Experiment, Key, Picture, Plan, measure, take
from allears.experiments.made_corpora import REDDIT
from allears.experiments.setting import Setting

COLUMNS = ("groups", "two people less alike than chance")
BARS = {"two people": "people", "chance": "random"}
# those of the sample in which two people answer often enough
SUBREDDITS = (
    "anxiety", "aww", "berkeley", "bipolar", "bulletjournal", "cats", "depression", "facepalm", "fatlogic", "happy",
    "mentalhealth", "nihilism", "todayilearned", "ucla", "ucsantabarbara", "ucsc", "ucsd", "wholesomememes",
)  # fmt: skip


def plan(setting: Setting) -> Plan:
    reddit = measure("speaker-similarity", corpus=REDDIT, split="train")
    asks: dict[Key, Ask] = {
        ("Reddit, by subreddit", COLUMNS[0]): take("groups", reddit),
        ("Reddit, by subreddit", COLUMNS[1]): take("people_less_alike", reddit),
    }
    why = (
        "our copy of EmpatheticDialogues numbers its speakers 0 and 1 in every conversation, so nobody can tell which "
        "answers are one person's"
    )
    asks |= {("EmpatheticDialogues, by emotion", column): Empty(why) for column in COLUMNS}
    for group in SUBREDDITS:
        for column, name in BARS.items():
            asks[group, column] = take(f"{name} {group}", reddit)
    rows = ("EmpatheticDialogues, by emotion", "Reddit, by subreddit", *SUBREDDITS)
    return Plan(rows, (*COLUMNS, *BARS), asks)


EXPERIMENT = Experiment(
    name="pec-figure-1",
    paper="PEC",
    place="Figure 1",
    question="Are the responses of two people less alike (TF-IDF) than two random sets of responses?",
    plan=plan,
    published={
        ("EmpatheticDialogues, by emotion", COLUMNS[0]): 32,
        ("EmpatheticDialogues, by emotion", COLUMNS[1]): 28,
    },
    source="PEC, caption of Figure 1",
    differs=("Subreddits of our Reddit sample in the place of emotions.",),
    decimals=0,
    decimals_of=dict.fromkeys(BARS, 3),
    picture=Picture("bars", "", "TF-IDF similarity", tuple(BARS)),
)
