"""Tournaments at the rim: pairing by a library, the file, results from battle files, the standings page."""
