"""Memory that pictures took, kept for the next ones.

A picture's worth of memory is given back to the system as soon as it is free, and asked for again for the next one; the
system hands it out page by page, each cleared first. That took a fifth of the time in which a table is read.
"""

import ctypes
import sys

__all__ = ["keep_freed_memory"]

# From malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_BYTES = 32 << 20  # more at once is no picture
_KEPT_BYTES = 128 << 20


def keep_freed_memory() -> None:
    """Have this process keep up to 128 MB that it does not need just now; where its C library cannot, nothing changes."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
