"""Films and pictures in files: opened through OpenCV, what is wrong with them, and the memory that they take."""
