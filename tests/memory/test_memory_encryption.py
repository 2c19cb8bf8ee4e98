"""With a key, nothing anybody said can be read from the database; without the right one, nothing at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import LargeBinary, create_engine, select, update

from allears.errors import AllearsError
from allears.memory import Memory
from allears.memory.encryption import Encrypted, Plain, WrongKeyError
from allears.memory.tables import metadata, sentences, turns, vault
from databases import Open
from talking import ME, known, say, texts

KEY = "a long and winding key"
SECRETS = (
    "periwinkle",
    "marmalade",
    "zeppelin",
    "quicksilver",
    "robin@example.org",
    "bluebottle",
    "hollyhock",
)


def fill(memory: Memory) -> str:
    """A conversation with a word to look for in everything that is stored."""
    person = SECRETS[4]
    memory.set_consent(person, True)
    talk = memory.start(person)
    say(
        memory, talk, f"I grow {SECRETS[0]}.", f"I live in {SECRETS[1]}.", person=person,
        labels={"note": SECRETS[2]}, why={"kind": SECRETS[3]}, request=SECRETS[6],
    )  # fmt: skip
    memory.edit_persona(person, 1, f"I live in {SECRETS[5]}.")
    return talk


def stored_values(url: str) -> list[object]:
    """Everything in every table, as the database has it."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = [
            value
            for table in metadata.sorted_tables
            for row in connection.execute(select(table))
            for value in row
        ]
    engine.dispose()
    return found


def test_no_word_can_be_read_from_an_encrypted_database(url: str, open_memory: Open):
    memory = open_memory(url, key=KEY)
    talk = fill(memory)
    everything = b"\n".join(
        bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
        for value in stored_values(url)
    )
    assert [word for word in SECRETS if word.encode() in everything] == []
    assert texts(memory.load(SECRETS[4], talk))[0] == "I grow periwinkle."
    assert memory.why(SECRETS[4], talk, 2) == {"kind": SECRETS[3]}


def test_no_word_is_in_the_files_of_an_encrypted_database(tmp_path: Path, open_memory: Open):
    fill(open_memory(str(tmp_path / "memory.db"), key=KEY))
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [word for word in SECRETS if word.encode() in everything] == []


def test_without_a_key_people_and_requests_are_still_only_digests(url: str, open_memory: Open):
    fill(open_memory(url))
    shown = " ".join(str(value) for value in stored_values(url) if isinstance(value, str))
    assert [word for word in SECRETS if word in shown] == []


def test_every_text_is_stored_as_bytes():
    free_text = {"text", "details", "why", "before", "state", "reason", "source"}
    for table in metadata.sorted_tables:
        for column in table.columns:
            if column.name in free_text:
                assert isinstance(column.type, LargeBinary), f"{table.name}.{column.name}"


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("another key altogether", "ALLEARS_KEY is not the key this database was encrypted with"),
        (None, "this database is encrypted; set ALLEARS_KEY to its key"),
    ],
)
def test_a_wrong_key_is_one_clear_error(url: str, open_memory: Open, key: str | None, sentence: str):
    fill(open_memory(url, key=KEY))
    with pytest.raises(WrongKeyError, match=sentence):
        open_memory(url, key=key)
    assert len(open_memory(url, key=KEY).conversations(SECRETS[4])) == 1


def test_the_key_comes_from_the_environment(url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALLEARS_KEY", KEY)
    talk = fill(open_memory(url))
    monkeypatch.delenv("ALLEARS_KEY")
    assert known(open_memory(url, key=KEY).load(SECRETS[4], talk)) == ("I live in bluebottle.",)


def test_a_key_for_a_database_with_plain_texts_is_refused(url: str, open_memory: Open):
    fill(open_memory(url))
    with pytest.raises(AllearsError, match="are not encrypted; unset the key, or name another database"):
        open_memory(url, key=KEY)
    assert len(open_memory(url).conversations(SECRETS[4])) == 1


def test_an_empty_database_takes_a_key_later(url: str, open_memory: Open):
    open_memory(url)
    fill(open_memory(url, key=KEY))
    with pytest.raises(WrongKeyError):
        open_memory(url)


def test_a_short_key_is_refused(url: str, open_memory: Open):
    with pytest.raises(AllearsError, match="has 5 characters and needs at least 12"):
        open_memory(url, key="12345")


def test_the_key_can_be_changed_and_the_old_one_opens_nothing(url: str, open_memory: Open):
    memory = open_memory(url, key=KEY)
    talk = fill(memory)
    memory.change_key("a new key for a new year")
    with pytest.raises(WrongKeyError):
        open_memory(url, key=KEY)
    assert (
        texts(open_memory(url, key="a new key for a new year").load(SECRETS[4], talk))[0]
        == "I grow periwinkle."
    )


def test_a_plain_database_has_no_key_to_change(memory: Memory):
    with pytest.raises(AllearsError, match="no key to change"):
        memory.change_key(KEY)


@pytest.mark.parametrize("table", [turns, sentences], ids=["a turn", "a sentence"])
def test_a_damaged_text_is_one_sentence(url: str, open_memory: Open, table):
    memory = open_memory(url, key=KEY)
    talk = memory.start(ME)
    say(memory, talk, "I sing.", "I sing.")
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(update(table).values(text=b"not what was stored at all"))
    engine.dispose()
    with pytest.raises(AllearsError, match="cannot be decrypted"):
        memory.load(ME, talk)


def test_the_same_text_never_looks_the_same_twice():
    cipher = Encrypted.new()
    first, second = cipher.seal("I sing."), cipher.seal("I sing.")
    assert first != second
    assert cipher.unseal(first) == cipher.unseal(second) == "I sing."


def test_digests_differ_between_databases_and_kinds():
    one, other = Encrypted.new(), Encrypted.new()
    assert one.digest("person", ME) == one.digest("person", ME)
    assert len({one.digest("person", ME), other.digest("person", ME), one.digest("start", ME)}) == 3
    assert len(Plain().digest("person", ME)) == len(one.digest("person", ME)) == 64


def test_the_vault_holds_no_key_in_the_open(sqlite_url: str, open_memory: Open):
    open_memory(sqlite_url, key=KEY)
    engine = create_engine(sqlite_url)
    with engine.connect() as connection:
        row = connection.execute(select(vault)).one()
    engine.dispose()
    assert KEY.encode() not in row.salt + row.wrapped_key
    assert len(row.salt) == 16
