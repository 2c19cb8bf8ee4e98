"""PEC's section 3 once more, slowly: dictionaries and loops, tree by tree, no engine.

It shares with the builder only what a text is (cleaning, sentences, language, part-of-speech answers) and how a
line is read; every rule about trees, conversations, personas and splits is written anew.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from allears.corpora.files import Source, lines
from allears.corpora.reddit.dumps import _comment, _submission
from allears.corpora.reddit.tagger import built_in
from allears.corpora.reddit.text import clean, english, one_line, sentences

COLUMNS = ("id", "author", "kind", "subreddit", "parent", "link", "created", "is_post", "crosspost", "raw")


def transcribe(  # noqa: PLR0912, PLR0915 - one function, to be read beside the paper's section
    comments: Path,
    submissions: Path,
    *,
    persona_of: str = "all",
    keep_orphans: bool = True,
    subreddits: Any = (),
) -> tuple[dict[str, tuple[Any, ...]], dict[str, list[str]]]:
    """Conversations by id: (split, subreddit, ((author, text), ...)); and the persona of everybody in them."""
    everything = []
    for path, parse in ((comments, _comment), (submissions, _submission)):
        for line in lines(Source(path)):
            record = dict(zip(COLUMNS, parse(json.loads(line), lambda name: name), strict=True))
            cleaned = clean(record["raw"])
            record["text"], record["sentences"] = one_line(cleaned), sentences(cleaned)
            record["good"] = (
                record["kind"] == "" and not record["crosspost"] and record["text"] != "" and english(cleaned)
            )
            everything.append(record)

    tree = {}
    for record in everything:
        if subreddits and record["subreddit"] not in subreddits:
            continue
        other = tree.get(record["id"])
        if other is None or _age(record) < _age(other):
            tree[record["id"]] = record

    ways = {}
    for record in tree.values():
        way = _way_up(record, tree)
        if way is not None and len(way) > 1:
            ways[record["id"]] = way
    links = defaultdict(set)
    for record in tree.values():
        way = _way_up(record, tree)
        if way is not None and record["link"] is not None:
            links[way[-1]["id"]].add(record["link"])

    found = {}
    for key, way in ways.items():
        top, recent = way[-1], way[:6]
        if not keep_orphans and not top["is_post"]:
            continue
        if not top["is_post"]:  # the beginning is lost anyway: begin after the last turn that does not fit
            while len(recent) > 2 and not all(_fits(turn) for turn in recent):
                recent = recent[:-1]
        if not all(_fits(turn) for turn in recent):
            continue
        was_cut = len(recent) < len(way[:6])
        if way[0]["author"] in (top["author"], recent[-1]["author"] if was_cut else top["author"]):
            continue
        found[key] = recent
    once: dict[Any, str] = {}
    for key in sorted(found, key=lambda key: (len(key), key)):
        last = found[key][0]
        once.setdefault((last["parent"], last["author"], last["text"]), key)
    found = {key: found[key] for key in once.values()}

    responses = defaultdict(list)
    for way in found.values():
        responses[way[0]["author"]].append(way[0]["text"])
    written = defaultdict(list)
    for record in everything:
        if record["good"]:
            for position, sentence in enumerate(record["sentences"]):
                words = sentence.split()
                if (
                    words[0] in ("i", "i'm", "i've", "i'd", "i'll")
                    and 4 <= len(words) <= 20
                    and built_in(sentence) == 7
                ):
                    when = record["created"] if record["created"] is not None else float("inf")
                    written[record["author"]].append(
                        (when, len(record["id"]), record["id"], position, sentence)
                    )
    personas = {}
    for author, theirs in written.items():
        fresh = dict.fromkeys(item[-1] for item in sorted(theirs))
        unsaid = [text for text in fresh if not any(text in response for response in responses[author])]
        if unsaid:
            personas[author] = unsaid[:100]

    chosen = {}
    for key, way in found.items():
        asked = way[:1] if persona_of == "respondent" else way
        if all(turn["author"] in personas for turn in asked):
            top = ways[key][-1]
            thread = top["id"] if top["is_post"] else max(links[top["id"]], default=top["parent"])
            turns = tuple((turn["author"], turn["text"]) for turn in reversed(way))
            chosen[key] = (_split(thread), way[0]["subreddit"], turns)
    speaking = {author for _, _, turns in chosen.values() for author, _ in turns}
    return chosen, {author: personas[author] for author in speaking if author in personas}


def _fits(turn: dict[str, Any]) -> bool:
    return bool(turn["good"]) and 2 <= len(turn["text"].split()) <= (90 if turn["is_post"] else 30)


def _age(record: dict[str, Any]) -> tuple[Any, ...]:
    created = record["created"]
    return (created if created is not None else float("inf"), record["author"], record["text"])


def _way_up(record: dict[str, Any], tree: dict[str, dict[str, Any]]) -> list[dict[str, Any]] | None:
    """From a record up to its root, or to the earliest ancestor at hand; None if it runs in a circle."""
    way, seen = [record], {record["id"]}
    while way[-1]["parent"] in tree:
        above = tree[way[-1]["parent"]]
        if above["id"] in seen:
            return None
        way.append(above)
        seen.add(above["id"])
    return way


def _split(thread: str) -> str:
    share = int(hashlib.sha256(thread.encode()).hexdigest()[:8], 16) / 16**8
    return "train" if share < 0.8 else "valid" if share < 0.9 else "test"
