"""Keys that several of our files have in common: the camera and its lens, the markers, the notation of the game."""
