"""What many shots add up to: hits and casualties of the log, and groups that were measured, in figures and plots."""
