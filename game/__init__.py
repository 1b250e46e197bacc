"""The games the table can referee; one folder each."""
