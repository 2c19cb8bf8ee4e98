"""People's names stay out of what is built, and people can be taken out again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from made_up_dump import PEOPLE, made_up_reddit, write

from allears.corpora import read
from allears.corpora.reddit import privacy
from allears.corpora.reddit.build import build
from allears.corpora.reddit.options import Options
from allears.errors import AllearsError


def asked(folder: Path, **choices: Any) -> list[str]:
    comments, posts = made_up_reddit(400)
    rc, rs = write(folder / "RC.zst", comments), write(folder / "RS.zst", posts)
    return [
        "reddit",
        "build",
        "--comments",
        str(rc),
        "--submissions",
        str(rs),
        "--orphans",
        "keep",
        "--out",
        str(folder / "out"),
    ]


def everything(out: Path) -> str:
    talks = read(out / "reddit.jsonl.gz", "all", out)
    return "\n".join(
        [
            *(talk.to_json() for talk in talks),
            *(path.read_text() for path in out.rglob("*.txt")),
            (out / "card.md").read_text(),
        ]
    )


def test_authors_are_hashed_with_a_secret_that_is_not_in_the_output(tmp_path: Path, run):
    answer = run(*asked(tmp_path))
    assert answer.code == 0, answer.err
    assert re.search(r"\d+ conversations in .*card\.md", answer.out.replace("\n", ""))
    text = everything(tmp_path / "out")
    authors = {
        turn.author
        for talk in read(tmp_path / "out" / "reddit.jsonl.gz", "all", tmp_path)
        for turn in talk.turns
    }
    assert all(re.fullmatch(r"[0-9a-f]{16}", author) for author in authors)
    assert not authors & set(PEOPLE)
    assert "a salt for the tests" not in text
    assert "t1_c" not in text  # the ids of comments lead to their authors too
    assert run("reddit", "author-id", "u/ann").out.strip() in authors


def test_another_salt_gives_other_ids():
    assert privacy.author_ids(b"one salt here")("ann") != privacy.author_ids(b"another salt")("ann")
    assert privacy.author_ids(None)("ann") == "ann"


def test_a_salt_is_made_once_and_kept_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ALLEARS_SALT")
    monkeypatch.setattr(privacy, "user_data_dir", lambda name: str(tmp_path / "home" / name))
    first = privacy.salt()
    assert len(first) == 64
    assert privacy.salt() == first
    assert privacy.salt_file().stat().st_mode & 0o077 == 0
    monkeypatch.setenv("ALLEARS_SALT", "short")
    with pytest.raises(AllearsError, match="too short"):
        privacy.salt()


def test_a_person_can_be_taken_out_of_every_file(tmp_path: Path, run):
    run(*asked(tmp_path))
    out = tmp_path / "out"
    who = run("reddit", "author-id", "ann").out.strip()
    before = sum(1 for _ in read(out / "reddit.jsonl.gz", "all", out))
    answer = run("reddit", "forget", out, who)
    assert answer.code == 0, answer.err
    from pyarrow import parquet

    left = list(read(out / "reddit.jsonl.gz", "all", out))
    gone = int(answer.out.split()[0])
    assert gone > 3
    assert len(left) == before - gone == parquet.read_metadata(out / "reddit.parquet").num_rows
    assert who not in everything(out)
    assert f"*{who[:6]}*" not in (out / "card.md").read_text()
    again = run("reddit", "forget", out, who)
    assert again.code == 2
    assert "nobody here has the id" in again.err
    assert len(list(read(out / "reddit.jsonl.gz", "all", out))) == len(left)


def test_forgetting_in_a_folder_that_is_no_corpus_is_refused(tmp_path: Path, run):
    answer = run("reddit", "forget", tmp_path, "0" * 16)
    assert answer.code == 2
    assert "no reddit.jsonl.gz here" in answer.err


def test_names_can_be_kept_and_the_card_says_so(tmp_path: Path):
    comments, posts = made_up_reddit(400)
    options = Options(
        comments=(write(tmp_path / "RC.zst", comments),),
        submissions=(write(tmp_path / "RS.zst", posts),),
        out=tmp_path / "out",
        orphans="keep",
        hash_authors=False,
        mask=False,
    )
    build(options)
    card = (tmp_path / "out" / "card.md").read_text()
    assert "as they were on Reddit" in card
    assert "**not** masked" in card
