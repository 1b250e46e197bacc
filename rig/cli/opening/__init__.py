"""Opening what a command works with: a line, or a whole rig, real or the twin's."""
