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

MOST_TURNS, LEAST_TURNS = 6, 2
LEAST_WORDS = 2
MOST_POST_WORDS = 90
MOST_COMMENT_WORDS = 30
# 8:1:1 by the first eight digits of the thread's SHA-256: below eight tenths, below nine tenths, the rest.
TRAIN_BELOW, VALID_BELOW = "cccccccd", "e6666667"
UNFIT = ("lost", "bad_post", "bad_comment")  # why a turn breaks a rule
FAR_FUTURE = 2**62  # where a record without a time is sorted

NODE_RULES = (
    Rule(
        "repeated record", "The dumps hold this id more than once; the first is kept.", lambda t: t.copy > 0
    ),
)


def nodes(records: ir.Table) -> ir.Table:
    """The records that threads are made of. Records that a rule removed stay in the tree (their answers
    would lose the way to the root) and are asked about when a conversation has one in it."""
    said = records.mutate(text=records.lines.replace("\n", " "))
    table = said.select(
        "id", "author", "subreddit", "parent", "link", "created", "is_post", "text",
        problem=said[REMOVED_BY],
        words=number_of_words(said.text),
    )  # fmt: skip
    # Only ids that occur more than once are numbered: sorting all texts would take longer than all else here.
    times = table.group_by("id").agg(times=table.count())
    often = times.filter(times.times > 1)
    repeated = table.semi_join(often, "id")
    order = [repeated.created.fill_null(FAR_FUTURE), repeated.author, repeated.text]
    numbered = repeated.mutate(copy=ibis.row_number().over(ibis.window(group_by="id", order_by=order)))
    single = table.anti_join(often, "id").mutate(copy=ibis.literal(0, "int64"))
    return single.union(numbered).drop("created")


def edges(table: ir.Table) -> ir.Table:
    """Every record and its parent, if the dumps hold it."""
    parents = table.select(up=table.id)
    return table.left_join(parents, table.parent == parents.up).select(table.id, parents.up)


def roots(engine: Engine, edges: ir.Table) -> ir.Table:
    """Every answer's earliest ancestor at hand (`top`); `found` is false where the way runs in a circle."""
    rounds = 0
    answers = edges.filter(edges.up.notnull()).select("id", top="up", found=ibis.literal(False))
    table = engine.save(answers, "roots-0.parquet")
    left = _unfinished(table)
    while left:
        rounds += 1
        above = table.select(above=table.id, higher=table.top, reached=table.found)
        step = table.left_join(above, table.top == above.above).select(
            table.id,
            top=ibis.coalesce(above.higher, table.top),
            # What is no answer itself is the top.
            found=above.above.isnull() | above.reached,
        )
        table = engine.save(step, f"roots-{rounds}.parquet")
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


def turns(windows: ir.Table, nodes: ir.Table) -> ir.Table:
    """One row for each turn of each conversation, `back` turns before the last; texts come later."""
    rows = []
    for back in range(MOST_TURNS):
        column = windows[f"back_{back}"]
        rows.append(
            windows.filter(column.notnull()).select(
                conversation=windows.back_0, back=ibis.literal(back, "int64"), node=column
            )
        )
    long = ibis.union(*rows)
    said = long.inner_join(nodes, long.node == nodes.id)
    most = ibis.ifelse(nodes.is_post, MOST_POST_WORDS, MOST_COMMENT_WORDS)
    bad = ~nodes.words.between(LEAST_WORDS, most)
    return said.select(
        long.conversation, long.back, long.node, nodes.author,
        lost=nodes.problem.notnull(), bad_post=bad & nodes.is_post, bad_comment=bad & ~nodes.is_post,
    )  # fmt: skip


def conversations(turns: ir.Table, roots: ir.Table, nodes: ir.Table) -> ir.Table:
    """One row a conversation: its speakers in columns (author_0 is the last), and what the rules ask.

    Where the post is at hand, every turn must fit the rules. An orphan has lost its beginning anyway, so its
    conversation begins after the last turn that does not fit, as it would had the dump lacked that turn too;
    only its last two turns, without which there is no conversation, must fit.
    """
    unfit = turns.lost | turns.bad_post | turns.bad_comment
    near = turns.back < LEAST_TURNS
    grouped = turns.group_by(id=turns.conversation).agg(
        length=turns.count(),
        fits_for=turns.back.min(where=unfit & ~near),
        **{f"author_{back}": turns.author.max(where=turns.back == back) for back in range(MOST_TURNS)},
        **{f"any_{what}": turns[what].any() for what in UNFIT},
        **{f"near_{what}": (turns[what] & near).any() for what in UNFIT},
    )
    own = roots.inner_join(nodes, roots.id == nodes.id).select(
        nodes.subreddit, nodes.parent, roots.top, roots.found, own_id=roots.id
    )
    placed = grouped.inner_join(own, grouped.id == own.own_id).drop("own_id")
    opening = threads(roots, nodes)
    table = placed.inner_join(opening, placed.top == opening.top_id).drop("top_id")
    left = ibis.ifelse(table.orphan, ibis.coalesce(table.fits_for, table.length), table.length)
    authors = [
        ibis.ifelse(left > back, table[f"author_{back}"], ibis.null("string")) for back in range(MOST_TURNS)
    ]
    return table.select(
        "id", "subreddit", "parent", "found", "orphan", "top_author", "thread", "split",
        length=left,
        cut=table.length - left,
        # Whom the conversation begins with; beyond the six turns, and where nothing was cut, whom the thread does.
        first_author=ibis.ifelse(left < table.length, ibis.coalesce(*reversed(authors)), table.top_author),
        **{f"author_{back}": author for back, author in enumerate(authors)},
        **{what: ibis.ifelse(table.orphan, table[f"near_{what}"], table[f"any_{what}"]) for what in UNFIT},
    )  # fmt: skip


def texts(chosen: ir.Table, turns: ir.Table, nodes: ir.Table) -> ir.Table:
    """The chosen conversations with what was said: text_0 is the last turn."""
    named = turns.inner_join(chosen, turns.conversation == chosen.id)
    left = named.filter(turns.back < chosen.length).select(turns.conversation, turns.back, turns.node)
    said = left.inner_join(nodes, left.node == nodes.id).select(left.conversation, left.back, nodes.text)
    wide = said.group_by(of=said.conversation).agg(
        **{f"text_{back}": said.text.max(where=said.back == back) for back in range(MOST_TURNS)}
    )
    return chosen.inner_join(wide, chosen.id == wide.of).drop("of")


def threads(roots: ir.Table, nodes: ir.Table) -> ir.Table:
    """Of every top: who wrote it, whether it is a post, the thread it belongs to and the thread's split.

    The thread is named by its post's id, also where the post is missing but any record says what it was; else
    by the missing parent, so that two answers to it stay together.
    """
    joined = roots.inner_join(nodes, roots.id == nodes.id).select(roots.top, nodes.link)
    links = joined.group_by("top").agg(link=joined.link.max())
    own = nodes.link
    link = ibis.ifelse(links.link.isnull() | (own > links.link), own, links.link)
    tops = links.inner_join(nodes, links.top == nodes.id).select(
        top_id=links.top,
        top_author=nodes.author,
        orphan=~nodes.is_post,
        thread=ibis.ifelse(nodes.is_post, nodes.id, ibis.coalesce(link, nodes.parent, nodes.id)),
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
             lambda t: t.lost),
        Rule("post not 2 to 90 words", "PEC's filter 1.", lambda t: t.bad_post),
        Rule("comment not 2 to 30 words", "PEC's filter 2.", lambda t: t.bad_comment),
        Rule("answer by the first speaker", "PEC's filter 4: the poster's own reply is no empathetic response.",
             lambda t: (t.author_0 == t.top_author) | (t.author_0 == t.first_author)),
    ]  # fmt: skip
    return tuple(rule for rule in rules if not (keep_orphans and rule.name == "orphan"))


CUT = "The post is missing, so the conversation begins after the last turn that does not fit the rules."

REPEATED_RULES = (
    Rule("repeated answer", "The same person gave the same answer in the same place; the first is kept.",
         lambda t: t.copy > 0),
)  # fmt: skip


def with_copies(conversations: ir.Table, nodes: ir.Table) -> ir.Table:
    """Conversations with their answers, which of equal ones is the first, and no more of what rules asked."""
    said = nodes.select(answer_id=nodes.id, answer=nodes.text)
    table = conversations.inner_join(said, conversations.id == said.answer_id).drop(
        "answer_id", "found", "orphan", "top_author", "first_author", "cut", *UNFIT
    )
    same = ibis.window(group_by=["parent", "author_0", "answer"], order_by=[table.id.length(), table.id])
    return table.mutate(copy=ibis.row_number().over(same))
