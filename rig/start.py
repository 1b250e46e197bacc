"""Where the command `rig` begins: Ctrl-C while it is still being loaded, or as it ends, is no traceback either."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run one command with the words of the process; return its exit status, as `rig.cli.main` does."""
    try:
        from rig.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("rig: stopped\n")
        return 130
    finally:
        # What is left is the interpreter's own end, which another Ctrl-C would spoil.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
