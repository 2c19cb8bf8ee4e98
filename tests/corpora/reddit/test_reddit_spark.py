"""Spark and DuckDB run the same expressions; they must give the same rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from made_up_dump import made_up_reddit, write

from allears.corpora.files import Source, lines
from allears.corpora.reddit.build import build
from allears.corpora.reddit.options import Options

pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")


@pytest.fixture(autouse=True, scope="module")
def _little_work() -> Iterator[None]:
    """For so few rows, compiling a plan to Java takes longer than running it."""
    settings = "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(
            "PYSPARK_SUBMIT_ARGS", f"{settings} --conf spark.sql.adaptive.enabled=false pyspark-shell"
        )
        yield


def rows(out: Path) -> list[str]:
    return sorted(lines(Source(out / "reddit.jsonl.gz")))


def sample_slice() -> tuple[list[str], list[str]]:
    """The first comments and all posts of the sample, where it is; all of it takes Spark minutes, so that is
    compared by `benchmarks/reddit.py --spark`."""
    folder = Path(os.environ.get("ALLEARS_DATA", "nowhere")) / "reddit"
    if not folder.is_dir():
        return [], []
    comments = islice(lines(Source(folder / "RC_sample.zst")), 4_000)
    posts = lines(Source(folder / "RS_sample.zst"))
    return [line.rstrip("\n") for line in comments], [line.rstrip("\n") for line in posts]


def test_both_engines_give_the_same_rows_on_a_made_up_dump_and_a_slice_of_the_sample(tmp_path: Path):
    comments, posts = made_up_reddit(400)
    more_comments, more_posts = sample_slice()
    files = {
        "comments": (write(tmp_path / "RC.zst", [*comments, *more_comments]),),
        "submissions": (write(tmp_path / "RS.zst", [*posts, *more_posts]),),
    }
    by_duckdb = build(Options(out=tmp_path / "duckdb", orphans="keep", **files))
    by_spark = build(
        Options(out=tmp_path / "spark", orphans="keep", engine="spark", master="local[1]", **files)
    )
    assert by_duckdb.total > 50
    assert by_spark.rules == by_duckdb.rules
    assert rows(tmp_path / "spark") == rows(tmp_path / "duckdb")
