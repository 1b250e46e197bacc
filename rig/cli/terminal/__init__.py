"""What a person reads in the terminal, and what he answers."""
