"""From the pictures of a shot to its verdict: read, judged, kept, and the doubts that wait for a commander."""
