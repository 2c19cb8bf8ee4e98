"""A made-up Reddit in the layout of the Pushshift dumps: nobody ever wrote any of this."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import zstandard

PEOPLE = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"]
OPENINGS = ["I", "You", "We", "I'm", "My dog", "They", "I don't", "I've"]
MIDDLES = ["like", "am walking to", "bought", "never saw", "am sorry for", "so", "baked", "missed", "sing"]
ENDINGS = [
    "the old house.",
    "a red bike!",
    "bread",
    "this, that and http://a.b/c",
    "you?",
    "my sister’s cat.",
    "it",
]


def comment(key: str, author: str, parent: str, body: str, **more: Any) -> dict[str, Any]:
    record = {"id": key, "author": author, "parent_id": parent, "link_id": None, "body": body}
    return record | {"subreddit": "Happy", "created_utc": 1_500_000_000} | more


def post(key: str, author: str, title: str, selftext: str = "", **more: Any) -> dict[str, Any]:
    record = {"id": key, "author": author, "title": title, "selftext": selftext, "subreddit": "happy"}
    return record | {"created_utc": 1_500_000_000} | more


def write(path: Path, records: list[Any]) -> Path:
    """One JSON record a line, packed if the name says so; texts are written as they are."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in records]
    packed = ("\n".join(lines) + "\n").encode()
    path.write_bytes(zstandard.compress(packed) if path.suffix == ".zst" else packed)
    return path


def made_up_reddit(size: int, seed: int = 1) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Comments and submissions with everything that dumps have: orphans, bots, circles, repetitions, ..."""
    random = Random(seed)
    posts = [
        post(f"p{n}", random.choice(PEOPLE), _sentence(random), " ".join(_sentence(random) for _ in range(3 * (n % 9))),
             subreddit=("happy", "offmychest", "cooking")[n % 3],
             **({"crosspost_parent": "t3_x"} if n % 17 == 3 else {}))
        for n in range(max(2, size // 12))
    ]  # fmt: skip
    comments: list[dict[str, Any]] = []
    for n in range(size):
        author = random.choice([*PEOPLE, *PEOPLE, "[deleted]", "AutoModerator", f"rare{n % 31}"])
        if n < 5 or random.random() < 0.3:
            thread, parent = random.randrange(len(posts) + 3), None
            parent = f"t3_p{thread}"  # the last three are not in the dump
            link = parent
        else:
            answered = random.choice(comments[-40:])
            parent, link = "t1_" + answered["id"], answered["link_id"]
        if random.random() < 0.05:
            parent = f"t1_missing{n % 7}"
        body = random.choice(
            [" ".join(_sentence(random) for _ in range(random.choice([1, 1, 2, 3, 7]))),
             _sentence(random) + "\n\n&gt; quoted\n\n" + _sentence(random) + "\nEdit: spelling",
             "[removed]" if n % 23 == 0 else "thanks so much, " + random.choice(PEOPLE),
             "das ist aber nicht gut für dich und ich"]
        )  # fmt: skip
        comments.append(
            comment(f"c{n}", author, parent, body,
                    link_id=None if random.random() < 0.5 else link,
                    created_utc=None if n % 11 == 0 else 1_500_000_000 + random.randrange(10**6),
                    subreddit=random.choice(["happy", "happy", "offmychest", "cooking"]) if n % 5 == 0 else "happy")
        )  # fmt: skip
    comments += [
        comment("x1", "ann", "t1_x2", "I go round and round the house."),
        comment("x2", "bob", "t1_x1", "Me too, my friend."),
    ]
    comments.append(comment("x3", "cat", "t1_x1", "I come in from outside the circle."))
    comments += [dict(comments[3]), dict(comments[7])]  # two records twice
    random.shuffle(comments)
    return comments, posts


def _sentence(random: Random) -> str:
    return " ".join(random.choice(part) for part in (OPENINGS, MIDDLES, ENDINGS))
