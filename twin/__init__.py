"""The table without a table: the real firmware on a simulated chip, simulated physics, rendered pictures."""
