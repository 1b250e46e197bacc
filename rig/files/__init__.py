"""Files that people give us and get from us: read with care, refused in words, written whole, never by two at once."""
