"""What the overhead camera saw: arrays in, frozen results out."""
