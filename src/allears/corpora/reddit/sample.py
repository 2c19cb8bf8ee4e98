"""A small, in-memory builder of PEC-like conversations from a Reddit sample (PEC section 3).

Threads are trees; every comment with a parent gives the conversation from the root (or the earliest
ancestor the dump holds) down to it. Kept are the 6 most recent turns; posts of 2 to 90 words and comments of
2 to 30; a last speaker who is not the first; respondents with at least one persona sentence. Persona sentences
are a person's own sentences of 4 to 20 words that begin with "i" and are in none of their responses. The
paper's part-of-speech checks are not made here, and only the respondent needs a persona.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.files import CorpusError, Source, lines

MOST_TURNS = 6
POST_WORDS = range(2, 91)
COMMENT_WORDS = range(2, 31)
PERSONA_WORDS = range(4, 21)
MOST_PERSONA_SENTENCES = 100
GONE = {"[deleted]", "[removed]", "AutoModerator"}

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|https?://\S+|www\.\S+")
_QUOTE = re.compile(r"^\s*(?:>|&gt;).*$", re.MULTILINE)
_SYMBOLS = re.compile(r"[^\w\s.,!?'’\-:;()]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Post:
    id: str
    author: str
    subreddit: str
    parent: str | None
    text: str


def clean(text: str) -> str:
    """Lower case, without links, quoted lines and special symbols; white space folded."""
    text = _LINK.sub(lambda match: match.group(1) or " ", _QUOTE.sub(" ", text))
    return " ".join(_SYMBOLS.sub(" ", text.replace("’", "'").lower()).split())


def persona_sentences(texts: list[str]) -> list[str]:
    """Sentences in which a person speaks of themselves, in the order written, without repetitions."""
    found: dict[str, None] = {}
    for text in texts:
        for sentence in _SENTENCE_END.split(text):
            cleaned = clean(sentence)
            words = cleaned.split()
            if len(words) in PERSONA_WORDS and re.split(r"['’]", words[0])[0] == "i":
                found.setdefault(cleaned)
    return list(found)[:MOST_PERSONA_SENTENCES]


def build(
    comments: Path, submissions: Path | None = None, *, need_persona: bool = True
) -> Iterator[Conversation]:
    """Every conversation of a sample that fits in memory; also those of people without persona, if not needed."""
    posts = {post.id: post for post in _posts(comments)}
    if submissions is not None:
        posts |= {post.id: post for post in _posts(submissions)}
    written: dict[str, list[str]] = defaultdict(list)
    for post in posts.values():
        written[post.author].append(post.text)
    cleaned = {post.id: clean(post.text) for post in posts.values()}
    personas: dict[str, list[str]] = {author: persona_sentences(texts) for author, texts in written.items()}
    for post in posts.values():
        chain = _chain(post, posts)
        if len(chain) < 2 or chain[0].author == post.author:
            continue
        turns = chain[-MOST_TURNS:]
        if not all(_fits(turn, cleaned[turn.id]) for turn in turns):
            continue
        response = cleaned[post.id]
        persona = [sentence for sentence in personas[post.author] if sentence not in response]
        if persona or not need_persona:
            yield Conversation(
                id=post.id,
                turns=tuple(
                    Turn(
                        Role.SUPPORTER if turn.author == post.author else Role.SEEKER,
                        cleaned[turn.id],
                        turn.author,
                    )
                    for turn in turns
                ),
                personas={post.author: Persona(tuple(PersonaSentence(text) for text in persona))},
                labels={"subreddit": post.subreddit},
                split=split_of(chain[0].id),
                source="reddit",
            )


def split_of(thread: str) -> str:
    """8:1:1 by a hash of the thread: a rebuild, or a larger dump, keeps the assignment."""
    bucket = int.from_bytes(hashlib.sha256(thread.encode()).digest()[:4]) % 10
    return "valid" if bucket == 8 else "test" if bucket == 9 else "train"


def _fits(post: Post, text: str) -> bool:
    return len(text.split()) in (POST_WORDS if post.parent is None else COMMENT_WORDS)


def _chain(post: Post, posts: dict[str, Post]) -> list[Post]:
    """From the earliest ancestor at hand down to `post`; a cycle ends it."""
    chain, seen = [post], {post.id}
    while chain[-1].parent is not None and chain[-1].parent in posts and chain[-1].parent not in seen:
        chain.append(posts[chain[-1].parent])
        seen.add(chain[-1].id)
    return chain[::-1]


def _posts(path: Path) -> Iterator[Post]:
    for number, line in enumerate(lines(Source(path)), 1):
        try:
            record = json.loads(line)
            author, key = record["author"], record["id"]
            parent = record.get("parent_id")
            text = record["body"] if "body" in record else f"{record['title']} {record.get('selftext') or ''}"
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise CorpusError(f"not a Reddit record ({error!r})", source=path, line=number) from error
        if author not in GONE and text not in GONE:
            prefix = "t1_" if parent else "t3_"
            yield Post(prefix + key, author, str(record.get("subreddit", "")).lower(), parent, text)
