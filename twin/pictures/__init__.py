"""What the overhead camera sees of the table: the stage, its lamps and prints, the lens, the sensor, and the pictures they give."""
