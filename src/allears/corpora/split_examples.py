"""The examples of a corpus's split, as response selection learns from them and is measured on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from allears.conversation import Example
from allears.corpora import PAPER_RULES, ExampleRule, corpus, data_root
from allears.corpora import examples as cut_examples
from allears.errors import AllearsError

# A corpus without a paper's rule is read like PEC: its last turn answers the six before it.
OWN_CORPUS_RULE = ExampleRule(context_turns=6, last_only=True)


def split_examples(
    name: str | Path,
    split: str,
    root: Path | str | None = None,
    context_turns: int | None = None,
    *,
    every_turn: bool = False,
) -> list[Example]:
    """The examples of one split, cut by the corpus's paper rule (another context length if given).

    Several splits are joined with a plus ("valid+test"): a small corpus then gives a narrower interval.
    With `every_turn` the seeker's turns are responses too: more pairs for further pre-training.
    """
    reader = corpus(name)
    rule = PAPER_RULES.get(reader.info.name, OWN_CORPUS_RULE)
    if context_turns is not None:
        rule = replace(rule, context_turns=context_turns)
    if every_turn:
        rule = replace(rule, respondent=None)
    found = [
        example
        for part in split.split("+")
        for example in cut_examples(reader.read(part, data_root(root)), rule)
        if example.response.text.strip()
    ]
    if not found:
        raise AllearsError(f"the {split} split of {name} has no examples: no turn in it answers another")
    return found
