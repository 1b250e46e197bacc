"""Battles and combat charts on disk, and the shots that go into them."""
