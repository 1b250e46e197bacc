"""The controller: it aims, cocks, fires, watches, judges and keeps the log.

What plays a shot lies right here: `sequence` is the firing cycle as a table, `cannon` goes through it over the link, `eye` watches the
table meanwhile, `match` plays one shot after another, from a target to a verdict, and `plan` and `programme_run` play many. `recording`
is a shot as the camera saw it, `settings` what `rig.toml` may say, `health` what is there and well. What they work with has rooms of
its own:

- `aim`: where to point the cannon, what an aim is worth, and why;
- `camera`, `film`, `lens`: pictures as they come, in files, and what the lens makes of them;
- `verdict`: from pictures to who leaves, and the doubts that wait for a commander; `replay` tells it again;
- `log`: every shot, once it is fired; `stats` adds them up, `report` shows them as pages;
- `battle`, `tournament`, `calibrating`: files of games, of tournaments, and of shots that a cannon is calibrated from;
- `files`, `keys`, `drawing`: reading and writing what people keep, the keys they share, and drawing for people;
- `link`: the line to the cannon; `cli`: the command `rig`, above all of these.

Who may import whom stands in `pyproject.toml`, from the command line down.
"""

import os

# What is multiplied here is small: a second thread gains nothing, and waits for its next piece by running in circles. That
# took a quarter of the processor time of a reading, from the threads that watch the table. Read when numpy and scipy load.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
