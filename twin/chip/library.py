"""The shim's library, opened once, with its declarations read from `shim.h`."""

from functools import cache
from pathlib import Path
from typing import Any

import cffi

from twin.chip.errors import ChipMissing

__all__ = ["LIBRARY_PATH", "open_library"]

LIBRARY_PATH = Path(__file__).resolve().parents[2] / "build" / "twin" / "libchip.so"
_HEADER_PATH = Path(__file__).with_name("shim.h")


@cache
def open_library(path: Path = LIBRARY_PATH) -> tuple[Any, Any]:
    """Return cffi's `ffi` and the open library.

    Raises
    ------
    ChipMissing
        Where the library has not been built, or cannot be loaded.
    """
    if not path.is_file():
        raise ChipMissing(path, "the simulated chip is not there")
    ffi = cffi.FFI()
    header = _HEADER_PATH.read_text(encoding="utf-8")
    ffi.cdef(header.split("/* declarations: begin */")[1].split("/* declarations: end */")[0])
    try:
        return ffi, ffi.dlopen(str(path))
    except OSError as error:
        raise ChipMissing(path, f"the simulated chip cannot be loaded ({error})") from error
