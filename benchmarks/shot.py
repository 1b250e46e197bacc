"""How long a shot of the demo takes."""

from benchmarks._demo import demo
from benchmarks.figure import Figure


def measure() -> list[Figure]:
    """Play the demo."""
    played = demo()
    shots = len(played.recordings)
    simulated_s = played.simulated_s / shots
    return [
        Figure(
            f"demo, {what} for each of {shots} shots, setting up and report included",
            spent_s / shots,
            "s",
            "the same on the twin's own clock",
            simulated_s,
        )
        for what, spent_s in (("time", played.wall_s), ("CPU time", played.cpu_s))
    ]
