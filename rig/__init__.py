"""The controller: it aims, cocks, fires, watches, judges and keeps the log."""

import os

# What is multiplied here is small: a second thread gains nothing, and waits for its next piece by running in circles. That
# took a quarter of the processor time of a reading, from the threads that watch the table. Read when numpy and scipy load.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
