"""The tests, and the benchmarks; both run as the program does, whose numpy multiplies in one thread."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
