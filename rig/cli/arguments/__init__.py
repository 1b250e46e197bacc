"""What commands are given: options that several of them share, and words that cannot be meant."""
