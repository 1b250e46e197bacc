"""Where to point the cannon: the way to each square, what every aim is worth under the rules, and why."""
