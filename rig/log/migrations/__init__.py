"""How a log of any earlier rig becomes a log of this one, step by step."""
