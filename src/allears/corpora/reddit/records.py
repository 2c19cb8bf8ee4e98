"""Step by step, what becomes of one dump file: cleaned records, and sentences that may be persona sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
from ibis import ir

from allears.corpora.reddit import tagger, text
from allears.corpora.reddit.rules import REMOVED_BY, Rule

FIRST_WORDS = ("i", "i'm", "i've", "i'd", "i'll")  # tokenised, the first word of each is "i"
LEAST_PERSONA_WORDS, MOST_PERSONA_WORDS = 4, 20


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions on texts that both engines run as they are."""

    clean: Any
    english: Any
    answers: Any


def functions(*, masked: bool, tagger_name: str) -> Functions:
    """Row by row: that is the one kind of Python function that DuckDB and Spark call in the same way."""
    tag = tagger.tagger(tagger_name)

    def clean(value: Any) -> Any:
        return text.clean(value, masked=masked)

    def english(value: Any) -> Any:
        return text.english(value)

    def answers(value: Any) -> Any:
        return tag(value)

    def scalar(function: Any, output: Any) -> Any:
        return ibis.udf.scalar.python(function, signature=((dt.string,), output))

    return Functions(
        clean=scalar(clean, dt.string),
        english=scalar(english, dt.boolean),
        answers=scalar(answers, dt.int64),
    )


def cleaned(raw: ir.Table, use: Functions) -> ir.Table:
    """Records with clean texts, what the rules need to know about them, and nothing else."""
    lines = raw.mutate(lines=use.clean(raw.text)).drop("text")
    return lines.mutate(is_english=use.english(lines.lines))


def number_of_words(column: ir.StringValue) -> ir.IntegerValue:
    """Words of a clean text, which has single spaces between them."""
    spaces = column.length() - column.replace(" ", "").length()
    return ibis.ifelse(column == "", 0, spaces + 1)


_RECORD_RULES = (
    Rule("deleted", "The author or the text is gone from Reddit.", lambda t: t.kind == "deleted"),
    Rule("bot", "Written by a program: AutoModerator, a name that says so, or a text that does.",
         lambda t: t.kind == "bot"),
    Rule("crosspost", "A post taken over from another subreddit, so its text is not its poster's.",
         lambda t: t.crosspost),
    Rule("empty", "Nothing is left without links, captions, quotes, edits and special symbols.",
         lambda t: t.lines == ""),
    Rule("not English", "Letters or frequent words of another language.", lambda t: ~t.is_english),
)  # fmt: skip


def record_rules(without: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules for single records; with subreddits to leave out, a rule for those comes first."""
    if not without:
        return _RECORD_RULES
    return (
        Rule("excluded subreddit", "Left out by --exclude.", lambda t: t.subreddit.isin(without)),
        *_RECORD_RULES,
    )


def candidates(records: ir.Table) -> ir.Table:
    """Every sentence of the records that no rule removed."""
    good = records.filter(records[REMOVED_BY].isnull())
    return good.select(
        "author", "lines", source=good.id, created=good.created, text=good.lines.split("\n").unnest()
    )


def placed(listed: ir.Table) -> ir.Table:
    """Sentences with where they stand in their record (to be kept in order). Those that a rule removed are only
    counted from now on, so their texts go."""
    stays = listed[REMOVED_BY].isnull()
    # Looking the line up takes half the time of numbering the lines of every text.
    found = ("\n" + listed.lines + "\n").find("\n" + listed.text + "\n")
    return listed.mutate(
        position=ibis.ifelse(stays, found, ibis.null("int64")),
        text=ibis.ifelse(stays, listed.text, ibis.null("string")),
    ).drop("lines")


SENTENCE_RULES = (
    Rule('first word is not "i"', "Persona rule 2: a person speaks of themselves.",
         lambda t: ~_begins_with_i(t.text)),
    Rule("not 4 to 20 words", "Persona rule 1.",
         lambda t: ~number_of_words(t.text).between(LEAST_PERSONA_WORDS, MOST_PERSONA_WORDS)),
)  # fmt: skip

TAG_RULES = (
    Rule("no verb", "Persona rule 3.", lambda t: (t.answers & tagger.VERB) == 0),
    Rule("no noun or adjective", "Persona rule 4.",
         lambda t: (t.answers & tagger.NOUN_OR_ADJECTIVE) == 0),
    Rule("no content word", "Persona rule 5.", lambda t: (t.answers & tagger.CONTENT) == 0),
)  # fmt: skip


def _begins_with_i(column: ir.StringValue) -> ir.BooleanValue:
    found = column.startswith(f"{FIRST_WORDS[0]} ")
    for word in FIRST_WORDS[1:]:
        found |= column.startswith(f"{word} ")
    return found
