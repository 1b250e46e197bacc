"""Speed, memory and size, each beside a named peer or floor measured in the same run.

A module of this folder with a function `measure()` joins `make bench` by being there; one whose name begins with an
underscore serves the others.
"""

import rig  # noqa: F401 - the first of all: numpy heeds it as it loads
