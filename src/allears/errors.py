"""The one family of errors that people see: a single sentence, no traceback, exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager


class AllearsError(Exception):
    """Something the person can mend: a file, an option, a missing install. The text says how."""


@contextmanager
def needs(what: str, extra: str = "train", *, otherwise: str = "") -> Iterator[None]:
    """Imports inside that fail because of a light install become one sentence about what `what` needs.

    `otherwise` ends the sentence: what else could be done.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):  # our own fault, not a missing install
            raise
        raise AllearsError(
            f'{what} needs {error.name}, which is not installed; run pip install "allears[{extra}]"{otherwise}'
        ) from error
