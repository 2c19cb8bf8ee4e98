"""Persona sentences of the people in the conversations (PEC section 3, "Persona Collection").

They come from everything a person wrote, in any subreddit. What a person also said in a response of theirs is
removed, in whatever conversation it was: a model must not find the answer in the persona. That is done before
the 100 are counted out and before anybody is asked for at least one, so both still hold in the corpus.
"""

from __future__ import annotations

import ibis
from ibis import ir

from allears.corpora.reddit.rules import Rule
from allears.corpora.reddit.threads import FAR_FUTURE, MOST_TURNS

MOST_SENTENCES = 100
RESPONDENT, NOBODY = "respondent", "nobody"


def speakers(conversations: ir.Table, *, last_only: bool = False) -> ir.Table:
    """Who speaks in which conversation, each once."""
    rows = [
        conversations.filter(conversations[f"author_{back}"].notnull()).select(
            conversation=conversations.id, author=conversations[f"author_{back}"]
        )
        for back in range(1 if last_only else MOST_TURNS)
    ]
    return (ibis.union(*rows) if len(rows) > 1 else rows[0]).distinct()


def of_speakers(sentences: ir.Table, conversations: ir.Table) -> ir.Table:
    """The sentences of people in the conversations, with what the rules ask about each."""
    people = speakers(conversations).select("author").distinct()
    theirs = sentences.semi_join(people, "author")
    same = ibis.window(group_by=["author", "text"], order_by=_order(theirs))
    numbered = theirs.mutate(copy=ibis.row_number().over(same))
    said = _said_in_a_response(numbered, conversations)
    return numbered.left_join(said, (numbered.author == said.said_by) & (numbered.text == said.said)).drop(
        "said_by"
    )


def _said_in_a_response(sentences: ir.Table, conversations: ir.Table) -> ir.Table:
    responses = conversations.select(by=conversations.author_0, response=conversations.answer).distinct()
    once = sentences.filter(sentences.copy == 0)
    pairs = once.inner_join(responses, once.author == responses.by)
    return pairs.filter(pairs.response.contains(pairs.text)).select(said_by="author", said="text").distinct()


PERSONA_RULES = (
    Rule("repeated sentence", "The person wrote it more than once; the first is kept.", lambda t: t.copy > 0),
    Rule("said in a response", "It occurs in one of the person's responses: the answer must not leak.",
         lambda t: t.said.notnull()),
)  # fmt: skip


def ranked(sentences: ir.Table) -> ir.Table:
    """Each person's sentences numbered in the order written, so that a larger dump keeps the first ones."""
    return sentences.mutate(
        rank=ibis.row_number().over(ibis.window(group_by="author", order_by=_order(sentences)))
    )


RANK_RULES = (
    Rule("beyond 100", "At most 100 persona sentences a person.", lambda t: t.rank >= MOST_SENTENCES),
)


def with_persona(conversations: ir.Table, personas: ir.Table, persona_of: str) -> ir.Table:
    """Conversations with the number of speakers who should have a persona and have none."""
    people = personas.select("author").distinct().mutate(has=True)
    asked = speakers(conversations, last_only=persona_of == RESPONDENT)
    joined = asked.left_join(people, asked.author == people.author).select(asked.conversation, people.has)
    without = joined.filter(joined.has.isnull()).select(without="conversation").distinct()
    return conversations.left_join(without, conversations.id == without.without)


def persona_rules(persona_of: str) -> tuple[Rule, ...]:
    if persona_of == NOBODY:
        return ()
    who = "The last speaker has" if persona_of == RESPONDENT else "A speaker has"
    why = f"PEC's filter 3. {who} no persona sentence."
    return (Rule("no persona", why, lambda t: t.without.notnull()),)


def _order(table: ir.Table) -> list[ir.Value]:
    return [
        table.created.fill_null(FAR_FUTURE),
        table.source.length(),
        table.source,
        table.position,
        table.text,
    ]
