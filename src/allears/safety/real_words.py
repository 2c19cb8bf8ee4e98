"""Find real words that the normaliser would mistake for misspelt ones: python -m allears.safety.real_words

Run it after the tables have got new words. It reads the vocabulary of the bundle that ships with allears (or of the
tokenizer.json files and word lists that are named) and writes tables/real_words.txt; what is in there stays.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from allears.safety.patterns import pattern_table


def vocabulary(path: Path) -> set[str]:
    """The whole words of a tokenizer.json, or of a file with a word at the beginning of each line."""
    text = path.read_text(encoding="utf-8")
    words = (
        json.loads(text)["model"]["vocab"]
        if path.suffix == ".json"
        else (line.partition(" ")[0] for line in text.splitlines())
    )
    return {word for word in words if len(word) > 2 and word.isascii() and word.isalpha() and word.islower()}


def mistaken(words: Iterable[str]) -> list[str]:
    """Of these words, those that would be changed."""
    normalise = pattern_table().normalise
    return sorted(
        word for word in words if word not in normalise.spellings and normalise.plain_words(word) != [word]
    )


def main() -> None:
    from allears.runtime.bundle import default_bundle

    sources = [Path(name) for name in sys.argv[1:]] or [default_bundle() / "tokenizer.json"]
    table = Path(__file__).parent / "tables" / "real_words.txt"
    known = set(table.read_text(encoding="utf-8").split())
    new = mistaken(set().union(*map(vocabulary, sources)) - known)
    table.write_text("\n".join(sorted(known | set(new))) + "\n", encoding="utf-8")
    print(f"{len(new)} new words, {len(known) + len(new)} in all")


if __name__ == "__main__":
    main()
