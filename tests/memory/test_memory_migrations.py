"""Databases grow with allears: created, upgraded with what is in them, and never touched if they are too new."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from allears.errors import AllearsError
from allears.memory import Memory
from allears.memory.encryption import Plain
from allears.memory.schema import HEAD, MIGRATIONS, REVISIONS, upgrade
from allears.memory.tables import VERSION_TABLE, metadata
from databases import Open
from talking import ME, known, say, texts


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_the_revisions_are_those_of_the_migrations():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert [each.revision for each in scripts.walk_revisions()][::-1] == list(REVISIONS)
    assert scripts.get_current_head() == HEAD


def test_the_migrations_end_in_the_tables_we_use(url: str, open_memory: Open):
    open_memory(url)
    with connected(url) as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_a_database_of_the_first_revision_is_upgraded_with_what_is_in_it(url: str, open_memory: Open):
    with connected(url) as connection:
        upgrade(connection, REVISIONS[0])
        assert "memory_sentences" not in inspect(connection).get_table_names()
        fill_first_revision(connection)
    memory = open_memory(url)
    assert texts(memory.load(ME, "0123456789abcdef")) == ["I planted a tree.", "Which one?"]
    assert memory.why(ME, "0123456789abcdef", 2) == {"kind": "reply"}
    assert memory.consent(ME) is False  # nobody asked them
    assert memory.start(ME, request="old") == "0123456789abcdef"
    memory.set_consent(ME, True)
    stored = say(memory, "0123456789abcdef", "An oak. I live in Ghent.", "I live in Ghent.")
    assert known(stored) == ("I live in Ghent.",)
    assert stored.labels["safety"] == "calm"
    with connected(url) as connection:
        assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one() == HEAD


def fill_first_revision(connection: Connection) -> None:
    """Rows as the first revision had them."""
    plain = Plain()
    rows = {
        "memory_people (id, name, ticks)": (1, plain.digest("person", ME), 3),
        "memory_conversations (id, name, person, started, last, tick, state)": (
            1, "0123456789abcdef", 1, "2026-01-01 10:00:00", "2026-01-01 10:00:00", 3,
            plain.seal('{"id": "0123456789abcdef", "turns": [], "labels": {"safety": "calm"}}'),
        ),
        "memory_turns (conversation, number, speaker, text, why, said)": (
            1, 1, "seeker", plain.seal("I planted a tree."), None, "2026-01-01 10:00:00",
        ),
        "memory_turns (conversation, number, speaker, text, why, said) ": (
            1, 2, "supporter", plain.seal("Which one?"), plain.seal('{"kind": "reply"}'), "2026-01-01 10:00:00",
        ),
        "memory_requests (person, digest, conversation)": (1, plain.digest("start", "old"), 1),
    }  # fmt: skip
    for where, values in rows.items():
        names = [f"v{number}" for number in range(len(values))]
        places = ", ".join(f":{name}" for name in names)
        insert = f"INSERT INTO {where} VALUES ({places})"
        connection.execute(text(insert), dict(zip(names, values, strict=True)))
    if connection.dialect.name == "postgresql":
        for table in ("memory_people", "memory_conversations"):
            connection.execute(text(f"SELECT setval('{table}_id_seq', 1)"))


def test_whoever_agreed_before_it_was_noted_counts_as_asked(url: str, open_memory: Open):
    insert = "INSERT INTO memory_people (name, ticks, consent, revision) VALUES (:name, 0, :consent, 0)"
    with connected(url) as connection:
        upgrade(connection, "0002")
        for person, consent in (("agreed", True), ("did not", False)):
            name = Plain().digest("person", person)
            connection.execute(text(insert), {"name": name, "consent": consent})
    memory = open_memory(url)
    assert (memory.asked("agreed"), memory.consent("agreed")) == (True, True)
    assert (memory.asked("did not"), memory.consent("did not")) == (False, False)


def test_a_database_of_a_newer_allears_is_refused_and_left_alone(url: str, open_memory: Open):
    memory = open_memory(url)
    talk = memory.start(ME)
    with connected(url) as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(AllearsError) as error:
        open_memory(url)
    assert "written by a newer allears (its revision 9999 is not known here); update allears" in str(
        error.value
    )
    assert "\n" not in str(error.value)
    assert [each.id for each in memory.conversations(ME)] == [talk]


def test_many_can_open_a_new_database_at_once(url: str, open_memory: Open):
    with ThreadPoolExecutor(8) as pool:
        memories = list(pool.map(lambda _: open_memory(url), range(8)))
    talks = {memory.start(ME, request="same") for memory in memories}
    assert len(talks) == 1


def test_many_can_give_a_new_database_the_same_key_at_once(url: str, open_memory: Open):
    with ThreadPoolExecutor(4) as pool:
        memories = list(pool.map(lambda _: open_memory(url, key="a long and winding key"), range(4)))
    assert len({memory.start(ME, request="same") for memory in memories}) == 1


def test_a_failed_upgrade_leaves_the_database_as_it_was(
    url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch
):
    with connected(url) as connection:
        upgrade(connection, REVISIONS[0])
    monkeypatch.setattr("alembic.op.create_index", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_memory(url)
    with connected(url) as connection:
        assert "memory_sentences" not in inspect(connection).get_table_names()
        assert (
            connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one() == REVISIONS[0]
        )


def test_sqlite_is_set_up_to_lose_nothing(sqlite_url: str, open_memory: Open):
    memory = open_memory(sqlite_url)
    settings = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
    with memory._database.reading() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in settings]
    assert found == ["wal", 2, 1, 1, 10_000]  # 2: FULL


def test_opening_a_current_database_loads_neither_alembic_nor_anything_heavy(sqlite_url: str):
    Memory(sqlite_url).close()
    code = f"""
import sys
from allears.memory import Memory
Memory({sqlite_url!r}).start("me")
heavy = ("alembic", "cryptography", "torch", "transformers", "pandas", "numpy", "sqlalchemy.orm")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
