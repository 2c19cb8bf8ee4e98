"""The documentation keeps its promises: it builds, every corpus has its page, and its examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Role
from allears.corpora import corpus, corpus_names

REPOSITORY = Path(__file__).parent.parent
DOCS = REPOSITORY / "docs"


@pytest.mark.parametrize("name", corpus_names())
def test_every_corpus_has_a_page_with_its_facts(name: str):
    info = corpus(name).info
    page = (DOCS / "corpora" / f"{name}.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    assert info.licence in text
    assert info.page in text
    assert f"allears data stats {name}" in text
    for heading in ("## Layout", "## Counts", "## Commands", "## Known defects"):
        assert heading in page
    if name != "pec":  # its page gives the paper's counts, in thousands
        for count in info.counts.values():
            assert f"{count:,}" in page


def test_the_readme_begins_with_the_two_commands():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert re.match(r"# allears\n\n```\nmake chat .*\nmake test .*\n```\n", readme)


def test_every_picture_in_the_readme_is_there():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme)
    assert pictures
    assert [picture for picture in pictures if not (REPOSITORY / picture).is_file()] == []


def test_the_example_reader_in_the_documentation_reads(tmp_path: Path):
    page = (DOCS / "corpora" / "own.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    (tmp_path / "helpline").mkdir()
    (tmp_path / "helpline" / "train.tsv").write_text("I am late.\tNo hurry.\nbroken\n", encoding="utf-8")
    skipped: list[Exception] = []
    (talk,) = names["Helpline"]().read("train", tmp_path, on_bad=skipped.append)
    assert [(turn.speaker, turn.text) for turn in talk.turns] == [
        (Role.SEEKER, "I am late."),
        (Role.SUPPORTER, "No hurry."),
    ]
    assert "line 2: expected caller<tab>answer" in str(skipped[0])


def test_the_example_conversations_are_in_our_schema():
    talks = list(corpus(DOCS / "examples" / "talks.jsonl").read("all", DOCS))
    assert [talk.id for talk in talks] == ["balcony", "move"]


def test_the_documentation_builds_without_a_warning(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "fonts.googleapis.com" not in home
