"""Where MISC's mental states come from: what a person may feel, want, need and do, given what they said.

A source is a function from prompts to sentences. `lexicon` needs nothing (`mental_states.toml`, words of our own);
`emotion` adds what the bundle's reader takes the person to feel; `comet:NAME` asks COMET (Bosselut et al. 2019), by hub
name or folder, as the paper does. No torch here, but for COMET.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from allears.conversation import Role
from allears.errors import AllearsError
from allears.runtime.generator import Prompt

LEXICON, EMOTION, COMET = "lexicon", "emotion", "comet:"
MOST = 8  # states of one person: the rest would only repeat them
LIKELY = 0.15  # of probability: an emotion that is worth naming
# COMET's relations that MISC uses of the person, with the words that make a sentence of what it answers.
RELATIONS = {
    "xReact": "I feel {}",
    "xIntent": "I mean {}",
    "xNeed": "I need {}",
    "xWant": "I want {}",
    "xEffect": "it makes me {}",
    "xAttr": "I am {}",
}


class MentalSource(Protocol):
    def __call__(self, prompts: Sequence[Prompt]) -> list[tuple[str, ...]]:
        """What may go on in the person of each prompt: sentences in the first person, none where nothing is found."""
        ...


def mental_source(name: str) -> MentalSource:
    if name == LEXICON:
        return LexiconSource()
    if name == EMOTION:
        return EmotionSource()
    if name.startswith(COMET) and len(name) > len(COMET):
        return CometSource(name.removeprefix(COMET))
    raise AllearsError(
        f"there is no commonsense source {name!r}; there are: {LEXICON}, {EMOTION}, {COMET}NAME"
    )


class LexiconSource:
    """By words: each group of cues stands for a few states; those that were said last come first."""

    def __call__(self, prompts: Sequence[Prompt]) -> list[tuple[str, ...]]:
        return [self._states(_said(prompt)) for prompt in prompts]

    def _states(self, said: Sequence[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for text in reversed(said):
            for group in _groups():
                if group.cues.search(text):
                    found |= dict.fromkeys(group.states)
        return tuple(found)[:MOST]


class EmotionSource:
    """What a reader takes the person to feel, then the lexicon's states."""

    def __init__(self, reader: str = "default"):
        self.reader = reader
        self._model: Any = None

    def __call__(self, prompts: Sequence[Prompt]) -> list[tuple[str, ...]]:
        from allears.corpora.heads import head
        from allears.text.reading import Reading

        asked = head("ed-emotion-turns")
        if self._model is None:
            from allears.models.reader.loading import load_reading_model

            self._model = load_reading_model(self.reader, asked)
        heard = [tuple(turn for turn in prompt.turns if turn.speaker is Role.SEEKER) for prompt in prompts]
        read = iter(self._model.probabilities(asked, [Reading(turns) for turns in heard if turns]))
        found = []
        for turns, states in zip(heard, LexiconSource()(prompts), strict=True):
            shares = next(read) if turns else ()
            likely = sorted(zip(shares, asked.labels, strict=True) if turns else (), reverse=True)
            named = [f"I feel {label}." for share, label in likely[:3] if share >= LIKELY]
            found.append(tuple(dict.fromkeys([*named, *states]))[:MOST])
        return found


class CometSource:
    """COMET as an encoder-decoder: "what was said xReact [GEN]" in, "sad" out. Texts are asked about once."""

    def __init__(self, name: str, *, longest: int = 12, batch: int = 32):
        self.name, self.longest, self.batch = name, longest, batch
        self._known: dict[str, tuple[str, ...]] = {}
        self._model: Any = None
        self._tokenizer: Any = None

    def __call__(self, prompts: Sequence[Prompt]) -> list[tuple[str, ...]]:
        """Of the first and of the last that the person said: the situation and the moment."""
        asked = [tuple(dict.fromkeys(_said(prompt)[-1:] + _said(prompt)[:1])) for prompt in prompts]
        self._ask([text for texts in asked for text in texts if text not in self._known])
        return [
            tuple(dict.fromkeys(state for text in texts for state in self._known[text]))[:MOST]
            for texts in asked
        ]

    def _ask(self, texts: Sequence[str]) -> None:
        texts = list(dict.fromkeys(texts))
        questions = [f"{text} {relation} [GEN]" for text in texts for relation in RELATIONS]
        answers: list[str] = []
        for start in range(0, len(questions), self.batch):
            answers += self._answers(questions[start : start + self.batch])
        for number, text in enumerate(texts):
            own = answers[number * len(RELATIONS) : (number + 1) * len(RELATIONS)]
            pairs = zip(RELATIONS.values(), own, strict=True)
            self._known[text] = tuple(
                f"{words.format(said)}." for words, said in pairs if said and said != "none"
            )

    def _answers(self, questions: Sequence[str]) -> list[str]:
        import torch

        if self._model is None:
            self._load()
        rows = self._tokenizer(
            list(questions), return_tensors="pt", padding=True, truncation=True, max_length=96
        )
        with torch.inference_mode():
            found = self._model.generate(
                input_ids=rows["input_ids"],
                attention_mask=rows["attention_mask"],
                max_new_tokens=self.longest,
                do_sample=False,
                num_beams=1,
            )
        spoken = self._tokenizer.batch_decode(found, skip_special_tokens=True)
        return [" ".join(text.split()).strip(" .") for text in spoken]

    def _load(self) -> None:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        try:
            self._tokenizer = AutoTokenizer.from_pretrained(self.name)
            self._model = AutoModelForSeq2SeqLM.from_pretrained(self.name).eval()
        except (OSError, ValueError) as error:
            raise AllearsError(
                f"COMET {self.name!r} cannot be loaded; give a hub name or a folder, or use source = {LEXICON!r} "
                f"({str(error).splitlines()[0]})"
            ) from error


class _Group(NamedTuple):
    cues: re.Pattern[str]
    states: tuple[str, ...]


@cache
def _groups() -> tuple[_Group, ...]:
    text = files("allears.models.generation").joinpath("mental_states.toml").read_text(encoding="utf-8")
    return tuple(
        _Group(_cues(group["cues"]), tuple(f"{state}." for state in group["states"]))
        for group in tomllib.loads(text).values()
    )


def _cues(listed: str) -> re.Pattern[str]:
    """Words and phrases, one a line or several with commas; a star stands for any ending."""
    phrases = [each.strip() for line in listed.splitlines() for each in line.split(",") if each.strip()]
    patterns = "|".join(re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{patterns})(?!\w)", re.IGNORECASE)


def _said(prompt: Prompt) -> list[str]:
    return [turn.text for turn in prompt.turns if turn.speaker is Role.SEEKER and turn.text.strip()]
