"""Executors for benchmark runs: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SECONDS_FOR_WORKERS = 30


@contextmanager
def local_executor(jobs: int) -> Iterator[Executor]:
    """A pool of new processes with one thread each."""
    # Libraries read these when they are loaded, so they must be set before a worker starts.
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler, which must have one thread each."""
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
        threads = client.nthreads()
        if any(count != 1 for count in threads.values()):
            # Runs seed the random state of their process, so two in one would mix.
            raise SystemExit(
                f"expected Dask workers of one thread each; got {threads}. Start them with "
                "`dask worker ADDRESS --nthreads 1 --nworkers N`."
            )
        with client.get_executor(pure=False) as executor:
            yield executor


def _begin_worker() -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    """A pool's workers do not notice that their parent was killed, and would stay for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
