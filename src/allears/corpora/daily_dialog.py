"""DailyDialog (Li et al. 2017): 13K everyday dialogues with a dialogue act and an emotion on every utterance.

Official layout: `train.zip`, `validation.zip`, `test.zip` (alone, or together in `ijcnlp_dailydialog.zip`),
each with three files whose lines belong together: `dialogues_train.txt` (utterances ending in `__eou__`),
`dialogues_act_train.txt` and `dialogues_emotion_train.txt` (a number per utterance). Unpacked folders do as
well. The two people are not named: whoever speaks first is the seeker, then they take turns.

Two defects of the published files are not errors here: a dialogue may have a label too few or too many (its
turns are kept, those without a label have None), and 747 dialogues are exact duplicates (kept).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import CorpusError, OnBad, Source, lines, locate, raise_bad, valid_utf8
from allears.labels import DAILY_ACTS as ACTS
from allears.labels import DAILY_EMOTIONS as EMOTIONS

_END = "__eou__"
_ACT_NAMES = {str(number): name for number, name in enumerate(ACTS, 1)}
_EMOTION_NAMES = {str(number): name for number, name in enumerate(EMOTIONS)}


class DailyDialog:
    info = CorpusInfo(
        name="dailydialog",
        title="DailyDialog",
        licence="CC BY-NC-SA 4.0",
        page="http://yanran.li/dailydialog",
        about="Everyday conversations, each utterance labelled with one of 4 acts and 7 emotions.",
        downloads=(
            Download(
                url="http://yanran.li/files/ijcnlp_dailydialog.zip",
                file="ijcnlp_dailydialog.zip",
                bytes=4_475_921,
                sha256="c641e88cbf21fd7c1b57289387f9107d33fe8685a2b37fe8066b82776535ea89",
            ),
        ),
        counts={"train": 11_118, "valid": 1_000},
        utterances={"train": 87_171},
        known={"turn emotion": EMOTIONS, "intent": ACTS},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        part = {"valid": "validation"}.get(split, split)
        name = f"dialogues_{part}.txt"
        dialogues = locate(
            root,
            [
                f"dailydialog/{part}.zip:*{name}",
                f"dailydialog/{part}/{name}",
                f"{part}/{name}",
                f"ijcnlp_dailydialog/{part}.zip:*{name}",
                f"ijcnlp_dailydialog/{part}/{name}",
                f"dailydialog/ijcnlp_dailydialog.zip:*{name}",
                f"dailydialog.zip:*{name}",
            ],
        )
        return _conversations(dialogues, split, on_bad)


def _conversations(dialogues: Source, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    acts, emotions = _beside(dialogues, "act"), _beside(dialogues, "emotion")
    together = zip_longest(lines(dialogues), lines(acts), lines(emotions))
    for number, (text, act_numbers, emotion_numbers) in enumerate(together, 1):
        for source, line in ((dialogues, text), (acts, act_numbers), (emotions, emotion_numbers)):
            if line is None:
                problem = f"the file ends before this line, but those beside it go on ({dialogues})"
                raise CorpusError(problem, source=source, line=number)
        if not text.strip():
            continue
        try:
            utterances = _utterances(text, dialogues, number)
            intents = _names(act_numbers, _ACT_NAMES, acts, number)
            feelings = _names(emotion_numbers, _EMOTION_NAMES, emotions, number)
        except CorpusError as error:
            on_bad(error)
            continue
        yield Conversation(
            id=f"dailydialog-{split}-{number}",
            turns=tuple(
                Turn(
                    (Role.SEEKER, Role.SUPPORTER)[position % 2],
                    utterance,
                    intent=intents[position] if position < len(intents) else None,
                    emotion=feelings[position] if position < len(feelings) else None,
                )
                for position, utterance in enumerate(utterances)
            ),
            split=split,
            source="dailydialog",
        )


def _beside(dialogues: Source, kind: str) -> Source:
    """The file with the labels of one kind: the same place, `dialogues_act_train.txt`."""
    if dialogues.member is None:
        name = dialogues.path.name.replace("dialogues_", f"dialogues_{kind}_")
        return Source(dialogues.path.with_name(name))
    folder, slash, name = dialogues.member.rpartition("/")
    return Source(dialogues.path, folder + slash + name.replace("dialogues_", f"dialogues_{kind}_"))


def _utterances(text: str, source: Source, line: int) -> list[str]:
    if not valid_utf8(text):
        raise CorpusError("not valid UTF-8", source=source, line=line)
    *utterances, rest = (utterance.strip() for utterance in text.split(_END))
    if rest or not all(utterances):
        raise CorpusError(
            f"expected utterances that each end in {_END}, none empty", source=source, line=line
        )
    return utterances


def _names(numbers: str, names: dict[str, str], source: Source, line: int) -> list[str]:
    try:
        return [names[number] for number in numbers.split()]
    except KeyError as error:
        known = f"{min(names)} to {max(names)}"
        problem = f"expected a number from {known} per utterance, got {error.args[0]!r}"
        raise CorpusError(problem, source=source, line=line) from error
