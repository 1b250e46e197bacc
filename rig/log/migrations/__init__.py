"""How a log of any earlier rig becomes a log of this one, step by step.

A change of `rig.log._tables` needs a module in `versions`, named for its number and what it does, and `HEAD` raised
to that number. A test compares what the migrations lead to with the tables, and names what is missing.
"""
