"""Pictures decoded by libraries that write of a damaged one to standard error by themselves, past all of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet_decoders"]

_STANDARD_ERROR = 2


@contextmanager
def quiet_decoders() -> Iterator[None]:
    """Let nothing through to standard error; what is wrong with a picture is for the caller to tell."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        kept = os.dup(_STANDARD_ERROR)
        try:
            os.dup2(nowhere, _STANDARD_ERROR)
            yield
        finally:
            os.dup2(kept, _STANDARD_ERROR)
            os.close(kept)
    finally:
        os.close(nowhere)
