"""The line to the cannon: bytes, messages, commands done at most once, events, and the record of all of it."""
