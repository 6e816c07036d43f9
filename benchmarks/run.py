"""Run methods on problems; every run becomes one record in a directory of JSON Lines.

What has a record already is not run again: killed at any time and started anew with the same
arguments, the command does what is missing. Start box, initial points and noise are the same for
every method of a seed. Runs that fail are kept as records with their traceback and are run again
with --retry-failed only.

  python -m benchmarks run --suite smoke --output out
  python -m benchmarks run --suite paper5 highdim --seeds 0-9 --jobs 8 --output out
  python -m benchmarks run --problems beale far_smooth2_d30 --methods EI-UBO outside --output out
  python -m benchmarks run --suite reference --reference DIR --methods authors EI-UBO --output out
  python -m benchmarks run --suite mnist --data-dir DIR --preset cpu --output out

On several machines, start `dask scheduler` on one of them, and on each of them, in the project's
root, `dask worker ADDRESS --nthreads 1 --nworkers N`; then pass --scheduler ADDRESS. Files named
on the command line must then be at the same path everywhere. Only this process writes records.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from botorch.exceptions.errors import BotorchError
from tqdm import tqdm

from benchmarks import catalog, far, stress
from benchmarks.catalog import Sources
from benchmarks.contenders import contender_names
from benchmarks.loop import run_one
from benchmarks.plan import Job, describe_missing, find_missing, plan_suites
from benchmarks.pool import dask_executor, local_executor
from benchmarks.problems import PROBLEMS
from benchmarks.records import pack, write_record
from benchmarks.reference import parse_seeds
from benchmarks.suites import MNIST, SUITES

NAME = "run"
HELP = "run methods on problems, resumably, into a directory of records"
INTERRUPTED = 130  # a shell's status for Ctrl-C


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    suites = "; ".join(f"{name}: {suite.description}" for name, suite in SUITES.items())
    distances, kinds = ",".join(map(str, far.DISTANCES)), ",".join(far.KINDS)
    names = (
        f"{', '.join(PROBLEMS)}; any of these with _noisy; "
        f"far_{{{kinds}}}{{2,5}}_d{{{distances}}}; "
        f"{', '.join((*stress.NEAR, *stress.USELESS, *stress.PLATEAU, *MNIST))}; "
        f"with --reference: {', '.join(catalog.REFERENCE)}"
    )
    parser.add_argument(
        "--suite",
        nargs="+",
        default=[],
        choices=SUITES,
        metavar="SUITE",
        help=suites.replace("%", "%%"),
    )
    parser.add_argument(
        "--problems", nargs="+", default=[], metavar="NAME",
        help=f"besides those of the suites: {names}",
    )  # fmt: skip
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME",
        help="names, or the groups all, registry, outside; default: the suites', else all: "
        f"{', '.join(contender_names())}; authors, on the problems of --reference",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=parse_seeds, metavar="SEEDS",
        help="like 0-9 or 0,2,4; default: the suites', else 0-9",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="of the records")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)s")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, instead of --jobs")
    parser.add_argument("--budget", type=int, metavar="N",
        help="evaluations after the initial points; default: the problem's own",
    )  # fmt: skip
    parser.add_argument("--reference", type=Path, metavar="DIR", help="the authors' runs")
    parser.add_argument("--data-dir", type=Path, metavar="DIR",
        help="MNIST's IDX files; without it they are asked of OpenML",
    )  # fmt: skip
    parser.add_argument("--preset", default="cpu", help="of MNIST: cpu or paper; default: cpu")
    parser.add_argument(
        "--pack", type=Path, metavar="FILE",
        help="when all is done, write all records of --output into one FILE.jsonl.gz too",
    )  # fmt: skip
    parser.add_argument("--retry-failed", action="store_true", help="run what failed again")
    parser.add_argument("--dry-run", action="store_true", help="only tell what is missing")


def run(arguments: argparse.Namespace) -> int:
    """Plan, run what is missing, write the records."""
    sources = Sources(arguments.reference, arguments.data_dir, arguments.preset)
    if arguments.jobs < 1:
        raise SystemExit("expected --jobs of 1 or more")
    try:
        jobs = plan_suites(
            [SUITES[name] for name in arguments.suite],
            arguments.problems,
            sources,
            methods=arguments.methods,
            seeds=arguments.seeds,
            budget=arguments.budget,
        )
        missing = find_missing(jobs, arguments.output, arguments.retry_failed)
    except (BotorchError, KeyError, ValueError, OSError, RuntimeError) as error:
        raise SystemExit(error.args[0] if isinstance(error, KeyError) else str(error)) from None
    if arguments.dry_run:
        print(describe_missing(missing, len(jobs)))
        return 0
    status = 0
    if not missing:
        print(f"nothing to do: all {len(jobs)} runs have a record in {arguments.output}")
    else:
        with _only_writer(arguments.output), _executor(arguments, len(missing)) as executor:
            status = _execute(executor, missing, len(jobs), sources, arguments.output)
    if arguments.pack is not None and status == 0:
        print(f"{pack(arguments.output, arguments.pack)} records packed into {arguments.pack}")
    return status


@contextmanager
def _executor(arguments: argparse.Namespace, count: int) -> Iterator[Executor]:
    if arguments.scheduler is None:
        with local_executor(min(arguments.jobs, count)) as executor:
            yield executor
        return
    with dask_executor(arguments.scheduler) as executor:
        yield executor


def _execute(
    executor: Executor, missing: Sequence[Job], total: int, sources: Sources, output: Path
) -> int:
    """Run the missing jobs and write each record as it comes; returns the exit status."""
    futures = {
        executor.submit(run_one, job.problem, job.method, job.seed, sources, job.budget): job
        for job in missing
    }
    failed: list[str] = []
    bar = tqdm(total=total, initial=total - len(missing), unit="run", smoothing=0.05)
    try:
        with bar:
            for future in as_completed(futures):
                job = futures[future]
                try:
                    record = future.result()
                except BrokenProcessPool:
                    raise SystemExit(
                        "a worker was killed, perhaps for want of memory; start again with the "
                        "same arguments to go on, with fewer --jobs if it happens again"
                    ) from None
                except Exception as error:
                    # Not the method's fault, which would be a record: others would follow.
                    raise SystemExit(
                        f"{job.problem} cannot be run ({type(error).__name__}: {error})"
                    ) from error
                write_record(output, record)
                bar.update()
                if record.status == "failed":
                    reason = (record.error or "").strip().rpartition("\n")[2]
                    failed.append(f"{job.problem}, {job.method}, seed {job.seed}: {reason}")
                    bar.set_postfix(failed=len(failed))
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


@contextmanager
def _only_writer(directory: Path) -> Iterator[None]:
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
