"""Benchmarks of botorch_ubo: ``python -m benchmarks --help``.

One thread unless the user says otherwise, set before torch is imported: two threads made the
small GP fits of these benchmarks 20 times slower on a busy two-core machine.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
