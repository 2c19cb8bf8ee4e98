"""The one family of errors that people see: a single sentence, no traceback, exit code 2."""


class AllearsError(Exception):
    """Something the person can mend: a file, an option, a missing install. The text says how."""
