"""Executors of runs (processes of this machine, or a Dask cluster), and what they do."""

import fcntl
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.problems.problem import Sources
from benchmarks.problems.registry import find_problem
from benchmarks.runs.batched import is_batchable, run_batched
from benchmarks.runs.loop import run_one
from benchmarks.runs.plan import Job
from benchmarks.runs.records import Record, write_record

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SECONDS_FOR_WORKERS = 30
INTERRUPTED = 130  # a shell's status for Ctrl-C


@contextmanager
def open_executor(jobs: int, scheduler: str | None = None) -> Iterator[Executor]:
    """A pool of new processes with one thread each, or the workers of a Dask scheduler."""
    if scheduler is not None:
        with _dask_executor(scheduler) as executor:
            yield executor
        return
    # Libraries read these when they are loaded, so they must be set before a worker starts.
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
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


def execute(
    executor: Executor,
    missing: Sequence[Job],
    total: int,
    sources: Sources,
    output: Path,
    batched: bool = False,
) -> int:
    """Run the missing jobs of ``total``; returns the exit status.

    With ``batched``, all seeds of a method on a problem at once, where that is possible.
    """
    futures = {
        executor.submit(run_together, group, sources): group
        for group in (_together(missing, sources) if batched else [[job] for job in missing])
    }
    failed: list[str] = []
    try:
        with tqdm(total=total, initial=total - len(missing), unit="run", smoothing=0.05) as bar:
            for future in as_completed(futures):
                job = futures[future][0]
                try:
                    records = future.result()
                except Exception as error:
                    # Not the method's fault, which would be a record: others would follow. A
                    # worker that was killed, perhaps for want of memory, ends here too.
                    raise SystemExit(
                        f"{job.problem} cannot be run ({type(error).__name__}: {error})"
                    ) from error
                for record in records:
                    write_record(output, record)
                    bar.update()
                    if record.status == "failed":
                        reason = (record.error or "").strip().rpartition("\n")[2]
                        failed.append(f"{job.problem}, {job.method}, seed {record.seed}: {reason}")
    except KeyboardInterrupt:
        print("interrupted; start again with the same arguments to go on", file=sys.stderr)
        return INTERRUPTED
    finally:
        for future in futures:
            future.cancel()
    print(f"{len(missing) - len(failed)} runs finished, {len(failed)} failed; records: {output}")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 0


def run_together(jobs: Sequence[Job], sources: Sources) -> list[Record]:
    """One job, or those of a method on a problem that differ in their seeds."""
    first = jobs[0]
    if len(jobs) == 1:
        return [run_one(first.problem, first.method, first.seed, sources, first.budget)]
    seeds = [job.seed for job in jobs]
    return run_batched(first.problem, first.method, seeds, sources, first.budget)


def _together(jobs: Sequence[Job], sources: Sources) -> list[list[Job]]:
    """Jobs in groups of what can be run at once."""
    groups: dict[Any, list[Job]] = {}
    for job in jobs:
        problem = find_problem(job.problem, job.seed, sources)
        batchable = is_batchable(job.method, problem)
        key = (job.problem, job.method, job.budget) if batchable else job.key
        groups.setdefault(key, []).append(job)
    return list(groups.values())


@contextmanager
def only_writer(directory: Path) -> Iterator[None]:
    """Keep a second command out of the directory; the lock ends with the process, however."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SystemExit(
                f"expected no other `run` that writes to {directory}; wait for it, or use another "
                "--output"
            ) from None
        yield
