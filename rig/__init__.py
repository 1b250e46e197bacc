"""The controller: it aims, cocks, fires, watches, judges and keeps the log."""
