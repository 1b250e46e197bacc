"""Drawing for people: on pictures of the table, with the names that they gave, on paper of their size."""
