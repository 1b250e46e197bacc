"""`rig log` and `rig decide`: what was shot, and what a commander says of a doubt."""
