"""Calibrating a lens: photographs taken or found, and what came of them, in words and as a picture."""
