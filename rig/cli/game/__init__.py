"""`rig game`: the rules, and battles that are played by them. Each module hangs its commands on the group."""

from rig.cli.game import ask, chart, enter, play

__all__ = ["ask", "chart", "enter", "play"]
