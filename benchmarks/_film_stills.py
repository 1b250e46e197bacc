"""Film stills of the twin with their truth, as recordings: what the trainers of `vision` learn from beside clips.

``python -m benchmarks._film_stills FOLDER [--tables N] [--first SEED]`` takes 2 to 4 s of one core for each. A still
that is there is left as it is, so a run that was stopped can be taken up again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rig.recording import write_recording
from twin.clips import photograph

__all__ = ["film_still"]

_FIRST = 300_000


def film_still(seed: int, folder: Path) -> None:
    """Write a still as a recording in a folder, with who stands as its truth."""
    still = photograph(seed)
    folder.mkdir(parents=True, exist_ok=True)
    before = [
        {"square": str(each.square), "side": str(each.side), "x_mm": each.x_mm, "y_mm": each.y_mm}
        for each in still.standing
    ]
    truth = {"before": before, "falls": [], "moved": [], "lying": [str(square) for square in still.lying]}
    (folder / "truth.json").write_text(json.dumps(truth) + "\n", "utf-8")
    write_recording(folder, still.keys, still.frames)


def main() -> None:
    """Film stills of seeds one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._film_stills", description=__doc__)
    parser.add_argument("folder", type=Path, help="where they go, one folder each")
    parser.add_argument("--tables", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=_FIRST, help="the first one's seed")
    given = parser.parse_args()
    if given.tables < 1 or given.first < 0:
        parser.error("expected 1 table or more, and a seed of 0 or more")
    if given.folder.exists() and not given.folder.is_dir():
        parser.error(f"{given.folder}: is no folder")
    for seed in range(given.first, given.first + given.tables):
        folder = given.folder / f"still-{seed}"
        if not (folder / "recording.json").exists():
            film_still(seed, folder)
            print(folder)


if __name__ == "__main__":
    main()
