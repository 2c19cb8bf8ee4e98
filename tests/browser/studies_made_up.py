"""Small studies for the browser, in folders as `allears study` reads them. Items, replies and names are made up."""

from __future__ import annotations

import json
from pathlib import Path

from allears.study.design_file import read_design
from allears.study.frozen import freeze

HERON, KETTLE = "Blue Heron", "Iron Kettle"  # the systems; raters must never meet these words
SECRETS = (HERON, KETTLE, "heron", "kettle", "item-", ".jsonl")
SAID = {
    HERON: "That must have been a long week for you. Who was there with you?",
    KETTLE: "Tomorrow the sun comes up again, whatever happens.",
}
TURNS = (
    "I waited all week for a letter, and it came today.",
    "You must have been on edge.",
    "I was. It says I may start in June, and I do not know whether I am happy.",
)
TOP = """
title = "How do these replies come across?"
about = "You read short conversations and say what you think."
contact = "study@example.org"
minutes = 5
seed = 3
[consent]
text = \"\"\"
In this study you read short conversations and judge replies.

We store your answers under a random number. You may stop at any time, and you may withdraw.
\"\"\"
[instructions]
text = "Please read each conversation, then answer what stands below it."
"""
ONE_REPLY = """
[[blocks]]
type = "conversation"
[[blocks]]
type = "replies"
title = "The listener's reply"
"""
TWO_REPLIES = """
[[blocks]]
type = "conversation"
[[blocks]]
type = "replies"
title = "Two replies"
systems = 2
"""
SCALES = """
[[blocks]]
type = "likert"
key = "empathy"
text = "Does the reply show that the listener understands how the speaker feels?"
[[blocks]]
type = "likert"
key = "fluency"
text = "Is the reply easy to understand?"
"""
PREFERENCE = """
[[blocks]]
type = "preference"
key = "better"
text = "Which reply answers the speaker better?"
"""
EVERYTHING = """
[[blocks]]
type = "text"
title = "Before you read"
text = "Nobody here is real."
[[blocks]]
type = "situation"
[[blocks]]
type = "persona"
[[blocks]]
type = "choice"
key = "judgement"
text = "What do you make of these sentences?"
options = [
  { key = "reasonable", label = "They fit the conversation" },
  { key = "contradictory", label = "They contradict it" },
  { key = "other", label = "Something else", reason = true },
]
[[blocks]]
type = "free"
key = "comment"
text = "Is there anything you want to tell us?"
most_words = 30
"""
CHAT = """
[[blocks]]
type = "situation"
title = "Your situation"
[[blocks]]
type = "chat"
text = "Talk with both listeners about your situation."
systems = 2
least_turns = 2
most_turns = 3
[[blocks]]
type = "preference"
key = "overall"
text = "All in all, whose support would you rather have?"
first = "Listener A"
second = "Listener B"
"""
CHECKS = """
[checks]
every = 2
most_failed = 0
[[checks.items]]
turns = ["I wanted to ask you something."]
replies = ["This one is here to see whether people read: please choose 1 everywhere."]
expect = { empathy = 1, fluency = 1 }
"""
RETURNING = """
[returning]
prolific_done = "C0MPLETE"
prolific_screened = "SCR33NED"
"""
COLLECT = """
[[blocks]]
type = "describe"
text = "Describe a situation in which you felt that way, in one to three sentences."
emotions = ["grateful", "joyful", "sentimental", "surprised"]
[[blocks]]
type = "paired-chat"
least = 4
most = 8
"""


def rating_study(
    folder: Path, blocks: str = ONE_REPLY + SCALES, *, items: int = 2, more: str = "", **raters: object
) -> Path:
    """Items, and two systems whose outputs are files."""
    files = {HERON: "heron.jsonl", KETTLE: "kettle.jsonl"}
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        _lines(folder / file, [{"item": f"item-{n}", "text": SAID[name]} for n in range(items)])
    systems = [f'name = "{name}"\noutputs = "{file}"' for name, file in files.items()]
    return _study(folder, blocks, systems, items, raters, more)


def judging_study(folder: Path, **raters: object) -> Path:
    """Every other kind of block; nothing here is a system's."""
    folder.mkdir(parents=True, exist_ok=True)
    return _study(folder, EVERYTHING, [], 1, raters)


def chat_study(folder: Path, more: tuple[str, str] = ("", ""), **raters: object) -> Path:
    """Two selectors that share the shipped bundle and differ in what they can say: quick, and told apart by a test.

    `more`: what each of them can say besides, a reply a line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file, name, lines in (("heron.txt", HERON, more[0]), ("kettle.txt", KETTLE, more[1])):
        (folder / file).write_text(f"{SAID[name]}\n{lines}", encoding="utf-8")
    systems = [
        f'name = "{name}"\nbundle = "default"\ncandidates = "{file}"'
        for name, file in ((HERON, "heron.txt"), (KETTLE, "kettle.txt"))
    ]
    return _study(folder, CHAT, systems, 1, {"per_unit": 2, "units": 1, **raters})


def collecting_study(folder: Path, away_after: float = 120) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return _study(folder, f"{COLLECT}away_after = {away_after}\n", [], 0, {})


def _study(
    folder: Path, blocks: str, systems: list[str], items: int, raters: dict[str, object], more: str = ""
) -> Path:
    text = TOP + blocks + more
    if items:
        _lines(folder / "items.jsonl", [_item(number) for number in range(items)])
        wanted = {"per_unit": 2, "units": 20, "least_seconds": 0, **raters}
        text += "\n[raters]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in wanted.items())
        text += '\n[items]\nfile = "items.jsonl"\n'
    text += "".join(f"\n[[systems]]\n{each}\n" for each in systems)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    freeze(read_design(folder), folder)
    return folder


def _item(number: int) -> dict[str, object]:
    roles = ("seeker", "supporter")
    turns = [{"speaker": roles[place % 2], "text": text} for place, text in enumerate(TURNS)]
    turns[-1]["text"] += f" It is letter number {number + 1}."
    persona = ["I like to know things early.", "I have not worked for a year."]
    return {
        "id": f"item-{number}",
        "turns": turns,
        "situation": "You have been offered work in another town, and somebody you love stays here.",
        "personas": {"seeker": [{"text": text} for text in persona]},
    }


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
