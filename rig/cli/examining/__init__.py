"""What `rig doctor` looks at, and how it tells what it finds."""
