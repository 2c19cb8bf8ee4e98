"""Threads are trees (PEC section 3, "Conversation Collection"): from records to conversations.

Each comment that answers something gives the conversation from the root down to it. Nobody needs the whole
way: the 6 most recent turns are five steps up, and the root is found by doubling (every record knows its
ancestor 1, 2, 4, 8, ... steps up), so a thread of 100,000 comments, each an answer to the one before, takes
17 rounds. Records whose way up runs in a circle never reach a root and are told by that.
"""

from __future__ import annotations

import ibis
from ibis import ir

from allears.corpora.reddit.engine import Engine
from allears.corpora.reddit.records import number_of_words
from allears.corpora.reddit.rules import REMOVED_BY, Rule

MOST_TURNS = 6
LEAST_WORDS = 2
MOST_POST_WORDS = 90
MOST_COMMENT_WORDS = 30
# 8:1:1 by the first eight digits of the thread's SHA-256: below eight tenths, below nine tenths, the rest.
TRAIN_BELOW, VALID_BELOW = "cccccccd", "e6666667"
FAR_FUTURE = 2**62  # where a record without a time is sorted

NODE_RULES = (
    Rule(
        "repeated record", "The dumps hold this id more than once; the first is kept.", lambda t: t.copy > 0
    ),
)


def nodes(records: ir.Table) -> ir.Table:
    """The records that threads are made of. Records that a rule removed stay in the tree (their answers
    would lose the way to the root) and are asked about when a conversation has one in it."""
    same_id = ibis.window(
        group_by="id", order_by=[records.created.fill_null(FAR_FUTURE), records.author, records.text]
    )
    return records.select(
        "id", "author", "subreddit", "parent", "link", "is_post", "text",
        problem=records[REMOVED_BY],
        words=number_of_words(records.text),
        copy=ibis.row_number().over(same_id),
    )  # fmt: skip


def edges(table: ir.Table) -> ir.Table:
    """Every record and its parent, if the dumps hold it."""
    parents = table.select(up=table.id)
    return table.left_join(parents, table.parent == parents.up).select(table.id, parents.up)


def roots(engine: Engine, edges: ir.Table) -> ir.Table:
    """Every record's earliest ancestor at hand (`top`); `found` is false where the way runs in a circle."""
    rounds = 0
    table = engine.save(
        edges.select("id", top=ibis.coalesce(edges.up, edges.id), found=edges.up.isnull()), "roots-0.parquet"
    )
    left = _unfinished(table)
    while left:
        rounds += 1
        above = table.select(above=table.id, higher=table.top, reached=table.found)
        table = engine.save(
            table.inner_join(above, table.top == above.above).select(
                table.id, top=above.higher, found=above.reached
            ),
            f"roots-{rounds}.parquet",
        )
        before, left = left, _unfinished(table)
        # On a way to a root, every round finishes somebody. When nobody is finished, only circles are left.
        if left == before:
            break
    return table


def _unfinished(table: ir.Table) -> int:
    return int(table.filter(~table.found).count().to_pyarrow().as_py())


def windows(edges: ir.Table) -> ir.Table:
    """For each record that answers another: itself (back_0) and up to five before it (back_1, ...)."""
    table = edges.filter(edges.up.notnull()).select(back_0="id", back_1="up")
    for back in range(1, MOST_TURNS - 1):
        above = edges.select("up", here="id")
        table = table.left_join(above, [(f"back_{back}", "here")]).select(
            *(f"back_{earlier}" for earlier in range(back + 1)), **{f"back_{back + 1}": ibis._.up}
        )
    return table


def turns(windows: ir.Table, roots: ir.Table, nodes: ir.Table) -> ir.Table:
    """One row for each turn of each conversation, `back` turns before the last."""
    rows = []
    for back in range(MOST_TURNS):
        column = windows[f"back_{back}"]
        rows.append(
            windows.filter(column.notnull()).select(
                conversation=windows.back_0, back=ibis.literal(back, "int64"), node=column
            )
        )
    long = ibis.union(*rows)
    placed = long.inner_join(roots, long.conversation == roots.id).select(
        long.conversation, long.back, long.node, roots.top, roots.found
    )
    said = placed.inner_join(nodes, placed.node == nodes.id)
    # Without the post (an orphan), the earliest comment at hand stands in for it, and may be as long.
    opens = nodes.is_post | (placed.node == placed.top)
    return said.select(
        placed.conversation, placed.back, placed.top, placed.found, nodes.author, nodes.text, nodes.problem,
        bad_post=opens & ~nodes.words.between(LEAST_WORDS, MOST_POST_WORDS),
        bad_comment=~opens & ~nodes.words.between(LEAST_WORDS, MOST_COMMENT_WORDS),
    )  # fmt: skip


def conversations(turns: ir.Table, roots: ir.Table, nodes: ir.Table) -> ir.Table:
    """One row a conversation: its turns in columns (author_0 and text_0 are the last), and what rules ask."""
    last = {
        f"{what}_{back}": turns[what].max(where=turns.back == back)
        for back in range(MOST_TURNS)
        for what in ("author", "text")
    }
    grouped = turns.group_by(id=turns.conversation).agg(
        top=turns.top.max(),
        found=turns.found.all(),
        problem=turns.problem.max(),
        bad_post=turns.bad_post.any(),
        bad_comment=turns.bad_comment.any(),
        **last,
    )
    own = nodes.select(own_id=nodes.id, subreddit=nodes.subreddit, parent=nodes.parent)
    with_own = grouped.inner_join(own, grouped.id == own.own_id).drop("own_id")
    opening = threads(roots, nodes)
    return with_own.inner_join(opening, with_own.top == opening.top_id).drop("top_id")


def threads(roots: ir.Table, nodes: ir.Table) -> ir.Table:
    """Of every top: who wrote it, whether it is a post, the thread it belongs to and the thread's split.

    The thread is named by its post's id, also where the post is missing but any record says what it was; else
    by the missing parent, so that two answers to it stay together.
    """
    joined = roots.inner_join(nodes, roots.id == nodes.id).select(roots.top, nodes.link)
    links = joined.group_by("top").agg(link=joined.link.max())
    tops = links.inner_join(nodes, links.top == nodes.id).select(
        top_id=links.top,
        top_author=nodes.author,
        orphan=~nodes.is_post,
        thread=ibis.ifelse(nodes.is_post, nodes.id, ibis.coalesce(links.link, nodes.parent, nodes.id)),
    )
    return tops.mutate(split=split_of(tops.thread))


def split_of(thread: ir.StringValue) -> ir.StringValue:
    """train, valid or test by a hash of the thread: a rebuild, or a larger dump, keeps the assignment."""
    digits = thread.hexdigest("sha256").substr(0, 8)
    return ibis.cases((digits < TRAIN_BELOW, "train"), (digits < VALID_BELOW, "valid"), else_="test")


def conversation_rules(*, keep_orphans: bool) -> tuple[Rule, ...]:
    rules = [
        Rule("circle", "The parents run in a circle, so there is no root.", lambda t: ~t.found),
        Rule("orphan", "The post is missing from the dumps (--orphans drop).", lambda t: t.orphan),
        Rule("removed turn", "A turn is deleted, by a bot, a crosspost, empty or not English.",
             lambda t: t.problem.notnull()),
        Rule("post not 2 to 90 words", "PEC's filter 1.", lambda t: t.bad_post),
        Rule("comment not 2 to 30 words", "PEC's filter 2.", lambda t: t.bad_comment),
        Rule("answer by the first speaker", "PEC's filter 4: the poster's own reply is no empathetic response.",
             lambda t: t.author_0 == t.top_author),
    ]  # fmt: skip
    return tuple(rule for rule in rules if not (keep_orphans and rule.name == "orphan"))


REPEATED_RULES = (
    Rule("repeated answer", "The same person gave the same answer in the same place; the first is kept.",
         lambda t: t.copy > 0),
)  # fmt: skip


def with_copies(conversations: ir.Table) -> ir.Table:
    same = ibis.window(
        group_by=["parent", "author_0", "text_0"],
        order_by=[conversations.id.length(), conversations.id],
    )
    return conversations.mutate(copy=ibis.row_number().over(same))
