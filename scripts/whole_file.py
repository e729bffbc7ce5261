"""Writes a file whole or not at all."""

import os
from contextlib import contextmanager


class UnwrittenFile(Exception):
    """A disk that is full or a folder that may not be written to: one line for the user."""


def shown(text):
    """In one line, as a terminal may be shown it: a path may hold anything."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


@contextmanager
def whole_file(path):
    """The path to write to, which becomes `path` in the end, or is gone."""
    part = path.with_name(path.name + ".tmp")
    try:
        yield part
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UnwrittenFile(f"cannot write {path}: {error.strerror or error}; make room or "
                                "name another folder, then repeat") from error
        raise
