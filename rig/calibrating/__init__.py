"""What the cannon is calibrated from and to: shots and ranges as people write them down, the file, the certificate."""
