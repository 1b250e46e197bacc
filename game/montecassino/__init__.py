"""Montecassino: board, positions, turns and casualties, as pure values and functions."""
