"""Speed, memory and size, each beside a named peer or floor measured in the same run; and what has the eye learn again.

A module of this folder with a function `measure()` joins `make bench` by being there; one whose name begins with an
underscore does not. Most of those serve the others. Of the rest, run by hand:

- `_train_feet`, `_train_fates`, `_train_stands_there`, `_train_sides` and `_train_followers` learn what `vision` ships, from
  recordings with their truth, and say how often it errs on what was held back (docs/accuracy.md);
- `_film_stills` and `_fall_cases` make what some of them learn from, and `_mean_network` one network of several rounds;
- `_fall_table` makes `rig/aim/fall_table.json`.
"""

import rig  # noqa: F401 - the first of all: numpy heeds it as it loads
