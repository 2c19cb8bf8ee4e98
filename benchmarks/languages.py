"""What `allears.listener.languages` takes for another language, and what it misses: `python benchmarks/languages.py`.

False alarms on every message of a seeker in the talks (train; all kinds but "other language"), recall on everyday
sentences in tests/listener/languages.jsonl, and both at other thresholds. `--misses` lists them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from allears.conversation import Role
from allears.corpora import read
from allears.listener import languages
from allears.listener.languages import ENGLISH, language_of

SENTENCES = Path(__file__).parent.parent / "tests" / "listener" / "languages.jsonl"
WITHOUT_BLANKS = frozenset({"zh", "ja", "th"})
LONG = 5  # words
THRESHOLDS = (0.8, 0.9, 0.95, 0.97, 0.99, 0.999)


def english_messages(split: str = "train") -> list[str]:
    return [
        turn.text
        for talk in read("talks", split)
        if talk.labels["kind"] != "other language"
        for turn in talk.turns
        if turn.speaker is Role.SEEKER
    ]


def foreign_sentences(path: Path = SENTENCES) -> list[tuple[str, str]]:
    """(language, sentence)"""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(row["language"], row["text"]) for row in rows]


def is_long(language: str, sentence: str) -> bool:
    return language in WITHOUT_BLANKS or len(sentence.split()) >= LONG


def false_alarms(messages: Sequence[str]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if (found := language_of(message)) != ENGLISH:
            yield found, message


def missed(sentences: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    for language, sentence in sentences:
        if (found := language_of(sentence)) != language:
            yield language, found, sentence


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--misses", action="store_true", help="list false alarms and what was missed")
    parser.add_argument("--split", default="train", help="of the talks")
    given = parser.parse_args(argv)
    messages, sentences = english_messages(given.split), foreign_sentences()
    long = [pair for pair in sentences if is_long(*pair)]
    shipped = languages.SURELY_FOREIGN
    print(
        f"{len(messages)} English messages; {len(sentences)} sentences in other languages, {len(long)} of them long"
    )
    print("threshold  false alarms      long found   all found")
    for threshold in THRESHOLDS:
        languages.SURELY_FOREIGN = threshold
        alarms = len(list(false_alarms(messages)))
        found = [1 - len(list(missed(each))) / len(each) for each in (long, sentences)]
        mark = " (ships)" if threshold == shipped else ""
        print(
            f"{threshold:<9}  {alarms:4d} ({alarms / len(messages):.4%})  {found[0]:10.1%}  {found[1]:10.1%}{mark}"
        )
    languages.SURELY_FOREIGN = shipped
    if given.misses:
        for language, message in false_alarms(messages):
            print(f"false alarm  {language}: {message}")
        for language, instead, sentence in missed(sentences):
            print(f"missed  {language} (said to be {instead}): {sentence}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
