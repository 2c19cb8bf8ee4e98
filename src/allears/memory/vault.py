"""Which cipher a database is read with: what its vault says, held against the key that was given."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from allears.errors import AllearsError
from allears.memory.database import Database
from allears.memory.encryption import Cipher, Encrypted, Plain, WrongKeyError, check_key
from allears.memory.schema import take_turns
from allears.memory.tables import people, vault


def open_vault(database: Database, key: str | None) -> Cipher:
    """The database's cipher. An empty database takes the key it is first opened with."""
    with database.reading() as connection:
        row = connection.execute(select(vault)).one_or_none()
    if row is None:
        return Plain() if key is None else _encrypt_from_now_on(database, key)
    if key is None:
        raise WrongKeyError(f"{database.place}: this database is encrypted; set ALLEARS_KEY to its key")
    return Encrypted.unwrap(key, row.salt, row.wrapped_key)


def change_key(database: Database, cipher: Cipher, new: str) -> None:
    """Wrap the database's key anew. The texts stay as they are."""
    if not isinstance(cipher, Encrypted):
        raise AllearsError(f"{database.place}: this database is not encrypted, so it has no key to change")
    check_key(new)
    with database.writing() as connection:
        _put_away(connection, cipher, new)
    database.clean(thorough=False)


def _encrypt_from_now_on(database: Database, key: str) -> Cipher:
    check_key(key)
    with database.writing() as connection:
        take_turns(connection)
        row = connection.execute(select(vault)).one_or_none()
        if row is not None:  # somebody else was faster
            return Encrypted.unwrap(key, row.salt, row.wrapped_key)
        if connection.execute(select(people.c.id).limit(1)).first() is not None:
            raise AllearsError(
                f"{database.place}: ALLEARS_KEY is set, but the texts in this database are not encrypted; "
                "unset the key, or name another database in ALLEARS_DATABASE"
            )
        cipher = Encrypted.new()
        _put_away(connection, cipher, key)
        return cipher


def _put_away(connection: Connection, cipher: Encrypted, key: str) -> None:
    salt, wrapped = cipher.wrapped(key)
    connection.execute(delete(vault))
    connection.execute(insert(vault).values(id=1, salt=salt, wrapped_key=wrapped))
