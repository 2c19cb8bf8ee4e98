"""Small corpora written for the tests, in the layouts that the authors publish. No sentence is from a corpus.

Each has at least three conversations in one split, and knows how to break the second of them.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.corpora import Corpus, corpus

ED_HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
STARS = "*" * 20


@dataclass(frozen=True)
class MadeUp:
    name: str  # in the registry; "*.jsonl" for a user's own file
    split: str
    files: dict[str, str]  # path under the root -> text
    main: str  # the file with the conversations
    good: str  # a part of the second conversation, ...
    bad: str  # ... and what makes that one row bad

    def reader(self) -> Corpus:
        return corpus(self.name)

    def write(self, root: Path) -> Path:
        for name, text in self.files.items():
            write_bytes(root / name, text.encode("utf-8"))
        return root

    def write_broken(self, root: Path) -> Path:
        """The same, with the second conversation broken."""
        self.write(root)
        text = self.files[self.main]
        assert text.count(self.good) == 1
        write_bytes(root / self.main, text.replace(self.good, self.bad).encode("utf-8", "surrogateescape"))
        return root


def write_bytes(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def json_lines(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def csv_text(header: list[str], *rows: list[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


ED_ROWS = (
    "hit:0_conv:1,1,proud,My plant grew_comma_ at last.,7,My fern grew_comma_ finally!,,\n"
    "hit:0_conv:1,2,proud,My plant grew_comma_ at last.,3,How tall is it?,,\n"
    "hit:0_conv:1,3,proud,My plant grew_comma_ at last.,7,Up to my knee.,,\n"
    "hit:0_conv:1,4,proud,My plant grew_comma_ at last.,3,You did well.,,\n"
    "hit:1_conv:2,1,lonely,Nobody came.,4,Nobody came to tea.,,\n"
    "hit:1_conv:2,2,lonely,Nobody came.,5,I am sorry… that hurts.,,\n"
    "hit:2_conv:3,1,afraid,The lift stopped.,8,The lift stopped twice.,,\n"
    "hit:2_conv:3,2,afraid,The lift stopped.,9,Did help come?,,\n"
)

ED = MadeUp(
    name="ed",
    split="train",
    files={"empatheticdialogues/train.csv": ED_HEADER + ED_ROWS},
    main="empatheticdialogues/train.csv",
    good="hit:1_conv:2,2,lonely",
    bad="hit:1_conv:2,2,purple",
)

ED_INTENTS = MadeUp(
    name="ed-intents",
    split="train",
    files=ED.files
    | {
        "ed_turn_labels.train.jsonl": json_lines(
            {"conv_id": "hit:2_conv:3", "labels": ["afraid", "questioning"]},  # any order
            {"conv_id": "hit:1_conv:2", "labels": ["lonely", "consoling"]},
            {"conv_id": "hit:0_conv:1", "labels": ["proud", "questioning", "content", "encouraging"]},
        )
    },
    main="ed_turn_labels.train.jsonl",
    good='["lonely", "consoling"]',
    bad='["lonely", "shouting"]',
)

DAILY_DIALOG = MadeUp(
    name="dailydialog",
    split="valid",
    files={
        "dailydialog/validation/dialogues_validation.txt": (
            "Is this seat free ? __eou__ Yes , do sit . __eou__ Thank you ! __eou__\n"
            "Close the door . __eou__ I will . __eou__\n"
            "It is late . __eou__ Oh no ! __eou__ We must run . __eou__\n"
        ),
        "dailydialog/validation/dialogues_act_validation.txt": "2 1 1 \n3 4 \n1 1 \n",
        "dailydialog/validation/dialogues_emotion_validation.txt": "0 0 4 \n0 0 \n0 6 3 0 \n",
    },
    main="dailydialog/validation/dialogues_validation.txt",
    good="I will . __eou__",
    bad="I will .",
)


def support_talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "experience_type": "Current Experience",
        "emotion_type": "sadness",
        "problem_type": "lost umbrella",
        "situation": "I left my umbrella on the train.",
        "survey_score": {"seeker": {"empathy": 4, "relevance": "5"}, "supporter": {"relevance": ""}},
        "dialog": list(messages),
    } | more


def asks(content: str, feedback: str | None = None, speaker: str = "seeker") -> dict[str, Any]:
    annotation = {} if feedback is None else {"feedback": feedback}
    return {"speaker": speaker, "annotation": annotation, "content": content}


def helps(content: str, strategy: str, speaker: str = "supporter") -> dict[str, Any]:
    return {"speaker": speaker, "annotation": {"strategy": strategy}, "content": content}


def json_array(*records: Any) -> str:
    return json.dumps(records, indent=1, ensure_ascii=False)


SUPPORT_TALKS = (
    support_talk(
        asks("I lost my umbrella."),
        helps("Oh no.", "Reflection of feelings"),
        helps("Where was it?", "Question"),
        asks("On the train.", feedback="5"),
        asks("It was red."),
        helps("Call the lost property office.", "Providing Suggestions"),
    ),
    support_talk(asks("Good day."), helps("Hello!", "Others"), problem_type="rain"),
    support_talk(asks("It rains."), helps("It will pass.", "Affirmation and Reassurance")),
)

ESCONV = MadeUp(
    name="esconv",
    split="train",
    files={"esconv/train.json": json_array(*SUPPORT_TALKS)},
    main="esconv/train.json",
    good='"strategy": "Others"',
    bad='"strategy": "Singing"',
)

ESCONV_FAILED = MadeUp(
    name="esconv-failed",
    split="failed",
    files={
        "esconv/failed.json": json_array(
            support_talk(
                asks("Hi\n", speaker="speaker"),
                helps("Yes?", "Questions", speaker="listener"),
                helps("Stand up.", "Direct Guidance", speaker="listener"),
                helps("You said hi.", "Restatement", speaker="listener"),
                helps("Good.", "Approval and Reassurance", speaker="listener"),
                helps("Bye.", "Other", speaker="listener"),
                id="failed_0",
            ),
            support_talk(asks("Hm.", speaker="speaker"), helps("Hm?", "Other", speaker="listener"), id="f_1"),
            support_talk(asks("So.", speaker="speaker"), helps("So?", "Other", speaker="listener"), id="f_2"),
        )
    },
    main="esconv/failed.json",
    good='"content": "Hm?"',
    bad='"content": 7',
)

PERSONA_TALK = (
    asks("Hello."),
    asks("I am here."),
    helps("Welcome.", "Others"),
    asks("I sell bread."),
    helps("Where?", "Question"),
    asks("In Ghent, with my sister."),
)

PESCONV = MadeUp(
    name="pesconv",
    split="valid",
    files={
        "pesconv/valid.json": json_array(
            support_talk(
                *PERSONA_TALK,
                persona=["i sell bread.", "i live in ghent.", "i am tall."],
                persona_by_turn=[["i sell bread."], ["i sell bread.", "i live in ghent."]],
            ),
            support_talk(*PERSONA_TALK, persona=["i bake."], persona_by_turn=[[], ["i bake."]]),
            support_talk(*PERSONA_TALK, persona=[], persona_by_turn=[]),
        )
    },
    main="pesconv/valid.json",
    good='"persona": [\n   "i bake."\n  ]',
    bad='"persona": "i bake."',
)

PERSONA_CHAT = MadeUp(
    name="personachat",
    split="train",
    files={
        "personachat/train_both_original_no_cands.txt": (
            "1 your persona: i keep bees.\n"
            "2 partner's persona: i sail.\n"
            "3 __SILENCE__\thello there !\n"
            "4 hi , what do you do ?\ti keep bees . and you ?\n"
            "1 your persona: i like tea.\n"
            "2 partner's persona: i am seven.\n"
            "3 who are you ?\ta tea drinker .\n"
            "1 your persona: i paint.\n"
            "2 do you paint ?\tevery day .\n"
        )
    },
    main="personachat/train_both_original_no_cands.txt",
    good="3 who are you ?\ta tea drinker .",
    bad="3 who are you ? a tea drinker .",
)

PROFILES = MadeUp(
    name="personachat-profiles",
    split="train",
    files={
        "personachat/train_profiles_with_utterances.jsonl": json_lines(
            *(
                {
                    "id": f"profile_{number}",
                    "persona_a": ["i keep bees ."],
                    "some_utterances_a": f"hello . i have {number} hives .",
                    "persona_sentence_a": "i keep bees.",
                    "persona_b": ["i sail .", "i am seven ."],
                    "some_utterances_b": "hi . the sea was calm .",
                    "persona_sentence_b": "i sail.",
                }
                for number in range(3)
            )
        )
    },
    main="personachat/train_profiles_with_utterances.jsonl",
    good='"profile_1"',
    bad="17",
)

MSC = MadeUp(
    name="msc",
    split="valid",
    files={
        "personachat/msc_persona_valid.jsonl": json_lines(
            {
                "id": "msc_0",
                "session": 2,
                "dialogue": [["Hello.", "Hi."], ["My goat is ill.", "Oh."], ["Bye.", ""]],
                "user_memory": [[], ["I have a goat."], []],
            },
            {"id": "msc_1", "session": 1, "dialogue": [["A.", "B."]], "user_memory": [["I say A."]]},
            {"id": "msc_2", "session": 1, "dialogue": [["C.", "D."]], "user_memory": [[]]},
        )
    },
    main="personachat/msc_persona_valid.jsonl",
    good='"user_memory": [["I say A."]]',
    bad='"user_memory": []',
)

PEC = MadeUp(
    name="pec",
    split="train",
    files={
        "pec/happy/train.txt": (
            "ann ---+--- i passed !\n"
            "bob ---+--- well done .\n"
            f"{STARS}\n"
            "ann ---+--- i passed !\n"
            "cem ---+--- which test ?\n"
            "ann ---+--- swimming .\n"
            "cem ---+--- so good !\n"
            f"{STARS}\n"
        ),
        "pec/happy/persona.txt": (
            f"bob\ni teach .\ni have 2 cats .\n{STARS}\nann\ni swim .\n{STARS}\nzoe\ni sew .\n{STARS}\n"
        ),
        "pec/offmychest/train.txt": f"dee ---+--- it rains .\neve ---+--- i am sorry .\n{STARS}\n",
        "pec/offmychest/persona.txt": f"eve\ni hum .\n{STARS}\n",
    },
    main="pec/happy/train.txt",
    good="cem ---+--- which test ?",
    bad="cem: which test ?",
)

EPITOME_HEADER = ["sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales"]
EPITOME = MadeUp(
    name="epitome",
    split="train",
    files={
        "epitome/emotional-reactions-reddit.csv": csv_text(
            EPITOME_HEADER,
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "2", "I am so sorry|"],
            ["p2", "r2", "Nothing works.", "What did you try?", "0", ""],
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "1", "sorry|friend|"],
        ),
        "epitome/interpretations-reddit.csv": csv_text(
            EPITOME_HEADER,
            ["p2", "r2", "Nothing works.", "What did you try?", "0", ""],
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "0", ""],
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "1", "friend|"],
        ),
        "epitome/explorations-reddit.csv": csv_text(
            EPITOME_HEADER,
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "0", ""],
            ["p2", "r2", "Nothing works.", "What did you try?", "2", "What did you try?|"],
            ["p1", "r1", "I fell,\nbadly.", "I am so sorry, friend.", "0", ""],
        ),
    },
    main="epitome/emotional-reactions-reddit.csv",
    good="What did you try?,0,",
    bad="What did you try?,9,",
)

GOEMOTIONS = MadeUp(
    name="goemotions",
    split="valid",
    files={
        "goemotions/dev.tsv": (
            'What a day!\t17\tc1\n"She said ""no"" twice."\t2,25\tc2\nThe bus is at nine.\t27\tc3\n'
        )
    },
    main="goemotions/dev.tsv",
    good="2,25",
    bad="2,99",
)

NEWSGROUPS = MadeUp(
    name="20news",
    split="test",
    files={
        "20news/test.jsonl": json_lines(
            {"label": "rec.autos", "text": "My car hums."},
            {"label": "sci.space", "text": "The moon is up."},
            {"label": "rec.autos", "text": "So does mine."},
        )
    },
    main="20news/test.jsonl",
    good='"text": "The moon is up."',
    bad='"words": "The moon is up."',
)

OWN = MadeUp(
    name="own.jsonl",
    split="all",
    files={
        "own.jsonl": json_lines(
            {
                "id": "a",
                "turns": [
                    {"speaker": "seeker", "text": "I am new."},
                    {"speaker": "supporter", "text": "Hi!"},
                ],
                "split": "train",
            },
            {"id": "b", "turns": [{"speaker": "seeker", "text": "Me too."}], "split": "valid"},
            {"id": "c", "turns": [{"speaker": "seeker", "text": "And me."}]},
        )
    },
    main="own.jsonl",
    good='"text": "Me too."',
    bad='"text": 3',
)

_TALK = {
    "id": "m-1", "emotion": "proud", "situation": "my fern grew", "kind": "ordinary", "author": "made-up",
    "persona": [{"text": "i have a fern called Otto", "turn": 1}],
    "turns": [
        {"speaker": "seeker", "text": "my fern Otto grew to my knee"},
        {"speaker": "supporter", "strategy": "Question", "text": "Up to your knee! What does Otto get from you?"},
        {"speaker": "seeker", "text": "water on mondays. 3 cups"},
        {"speaker": "supporter", "strategy": "Others", "text": "Three cups every Monday. It shows."},
    ],
}  # fmt: skip
TALKS = MadeUp(
    name="talks",
    split="train",
    files={
        "talks/train.jsonl": json_lines(
            _TALK,
            _TALK | {"id": "m-2", "emotion": "lonely", "known": ["my cat is called Ada"], "days_since": 4},
            _TALK | {"id": "m-3", "emotion": "afraid", "persona": []},
        )
    },
    main="talks/train.jsonl",
    good='"known": ["my cat is called Ada"]',
    bad='"known": "my cat is called Ada"',
)

_MARKED = {
    "id": "k-1",
    "turns": ["the bus was late again", "Again! What happened?", "nothing, it never comes"],
    "reply": "It never comes, and you stand there every day.",
    "mark": "good",
    "source": "chosen",
    "reader": "one",
}
MARKED = MadeUp(
    name="marked-replies",
    split="train",
    files={
        "marked/train.jsonl": json_lines(
            _MARKED,
            _MARKED | {"id": "k-2", "mark": "off", "reply": "Congratulations!", "known": ["i take the bus"]},
            _MARKED | {"id": "k-3", "mark": "plain", "reply": "I see.", "turns": ["the bus was late again"]},
        )
    },
    main="marked/train.jsonl",
    good='"mark": "off"',
    bad='"mark": "odd"',
)

_CRISIS = {
    "id": "c-1", "author": "made-up", "kind": "suicide", "shape": "third message",
    "turns": [
        {"speaker": "seeker", "text": "the bus was late", "level": "none"},
        {"speaker": "supporter", "text": "How late?"},
        {"speaker": "seeker", "text": "late enough to think about the bridge", "level": "doubt"},
        {"speaker": "supporter", "text": "Are you thinking of ending your life?"},
        {"speaker": "seeker", "text": "yes, tonight", "level": "clear"},
    ],
}  # fmt: skip
CRISIS = MadeUp(
    name="crisis-talks",
    split="train",
    files={
        "crisis/train.jsonl": json_lines(
            _CRISIS,
            _CRISIS | {"id": "c-2", "kind": "abuse", "whose": "other", "turns": _CRISIS["turns"][-1:]},
            {
                "id": "c-3", "author": "made-up", "kind": "suicide", "answer": "all-clear",
                "turns": [
                    {"speaker": "supporter", "text": "Are you thinking of ending your life?"},
                    {"speaker": "seeker", "text": "no, of the bus"},
                ],
            },
        )
    },
    main="crisis/train.jsonl",
    good='"whose": "other"',
    bad='"whose": "nobody"',
)  # fmt: skip

BUILT_IN = {
    made_up.name: made_up
    for made_up in (
        ED, ED_INTENTS, DAILY_DIALOG, ESCONV, ESCONV_FAILED, PESCONV, PERSONA_CHAT,
        PROFILES, MSC, PEC, EPITOME, GOEMOTIONS, NEWSGROUPS, TALKS, MARKED,
        CRISIS,
    )
}  # fmt: skip
ALL = BUILT_IN | {OWN.name: OWN}
