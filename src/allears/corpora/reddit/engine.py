"""Where the expressions run: DuckDB in this process, or Spark on a cluster. Both keep steps as Parquet files.

A step that is saved and read back frees the engine from everything before it: memory stays flat, and a Spark
plan stays short however many joins came before.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis
from ibis import ir

from allears.corpora.reddit.options import MEMORY
from allears.errors import AllearsError


class Engine:
    """An Ibis connection and the folder its steps are kept in."""

    def __init__(self, connection: Any, folder: Path):
        self.connection, self.folder = connection, folder

    def read(self, *parts: str) -> ir.Table:
        """The Parquet file, folder or pattern under the work folder."""
        table: ir.Table = self.connection.read_parquet(str(self.folder.joinpath(*parts)))
        return table

    def save(self, expression: ir.Table, *parts: str) -> ir.Table:
        """Run an expression, keep its rows under a name, and read them from there from now on."""
        place = self.folder.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name("." + place.name)
        for path in (unfinished, place):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        with readable_errors(place):
            self.connection.to_parquet(expression, str(unfinished))
        unfinished.rename(place)
        return self.read(*parts)

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """For steps whose work is Python functions: two threads of DuckDB would only wait for each other."""
        if self.connection.name != "duckdb":
            yield
            return
        self.connection.raw_sql("SET threads = 1")
        try:
            yield
        finally:
            self.connection.raw_sql("RESET threads")


@contextmanager
def readable_errors(place: Path) -> Iterator[None]:
    """What the engines say when a disk is full takes pages; a person needs one sentence."""
    try:
        yield
    except AllearsError:
        raise
    except Exception as error:
        import duckdb

        name = type(error).__module__ + "." + type(error).__name__
        if not (isinstance(error, duckdb.Error | OSError) or name.startswith(("py4j", "pyspark"))):
            raise
        first = next((line for line in str(error).splitlines() if line.strip()), name)
        raise AllearsError(
            f"{place.parent}: the step {place.stem!r} could not be run or kept ({first.strip()[:300]}); "
            "what is done is kept, so mend this and give the same command again"
        ) from error


@contextmanager
def open_engine(
    name: str, folder: Path, *, master: str | None = None, memory: str = MEMORY
) -> Iterator[Engine]:
    """`duckdb`, which beyond `memory` goes on in `folder`, or `spark` with a master such as `local[4]` or
    `spark://host:7077`."""
    if name == "duckdb":
        connection = ibis.duckdb.connect(
            memory_limit=memory, temp_directory=str(folder / "spill"), preserve_insertion_order=False
        )
        connection.raw_sql("SET enable_progress_bar = false")
        try:
            yield Engine(connection, folder)
        finally:
            connection.disconnect()
    elif name == "spark":
        session = _spark(master or "local[*]")
        try:
            yield Engine(ibis.pyspark.connect(session), folder)
        finally:
            session.stop()
    else:
        raise AllearsError(f"unknown engine {name!r}; use duckdb or spark")


def _spark(master: str) -> Any:
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise AllearsError("the Spark engine needs PySpark: pip install 'allears[spark]'") from error
    # The workers must run the Python that this is: they run our text functions.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master(master)
        .appName("allears reddit build")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.pythonUDF.arrow.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
    )
    if master.startswith("local"):
        cores = re.search(r"\[(\d+)", master)  # one part for each core; Spark's own 200 are for clusters
        parts = cores[1] if cores else str(os.cpu_count() or 1)
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", parts)
    try:
        session = builder.getOrCreate()
    except (PySparkRuntimeError, OSError) as error:
        raise AllearsError(
            f"Spark does not start ({str(error).splitlines()[0]}); it needs Java 17 or later (apt-get install "
            "default-jre-headless) and a master that answers"
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    return session
