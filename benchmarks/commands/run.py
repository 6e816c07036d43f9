"""Run methods on problems; every run becomes one record in a directory of JSON Lines.

What has a record already is not run again: killed at any time and started anew with the same
arguments, the command does what is missing. Start box, initial points and noise are the same for
every method of a seed. Runs that fail are kept as records with their traceback and are run again
with --retry-failed only.

  python -m benchmarks run --suite smoke --output out
  python -m benchmarks run --suite paper5 highdim --seeds 0-9 --jobs 8 --output out
  python -m benchmarks run --problems beale far_smooth2_d30 --methods EI-UBO outside --output out
  python -m benchmarks run --suite reference --reference DIR --methods authors EI-UBO --output out
  python -m benchmarks run --batched --suite paper5 --methods EI-Turns --seeds 0-29 --output out
  python -m benchmarks run --suite mnist --data-dir DIR --preset cpu --output out

On several machines, start `dask scheduler` on one of them, and on each of them, in the project's
root, `dask worker ADDRESS --nthreads 1 --nworkers N`; then pass --scheduler ADDRESS. Files named
on the command line must then be at the same path everywhere. Only this process writes records.
"""

import argparse
from pathlib import Path

from botorch.exceptions.errors import BotorchError

from benchmarks.commands.options import parse_seeds
from benchmarks.methods.registry import GROUPS, load_plugins
from benchmarks.problems.problem import Sources, Suite
from benchmarks.problems.registry import FAMILIES, SUITES
from benchmarks.runs.plan import Job, find_missing, plan_jobs
from benchmarks.runs.pool import execute, only_writer, open_executor
from benchmarks.runs.table import read_table, write_packed

HELP = "run methods on problems, resumably, into a directory of records"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    suites = "; ".join(f"{name}: {suite.description}" for name, suite in SUITES.items())
    suites = suites.replace("%", "%%")
    names = "; ".join(", ".join(family.names) for family in FAMILIES)
    methods = "; ".join(f"{name}: {', '.join(group)}" for name, group in GROUPS.items())
    methods = f"or groups of them, default: the suites', else all; {methods}; authors"
    add("--suite", nargs="+", default=[], choices=SUITES, metavar="SUITE", help=suites)
    add("--problems", nargs="+", metavar="NAME", help=f"besides those of the suites: {names}")
    add("--methods", nargs="+", metavar="NAME", help=methods)
    add("--seeds", type=parse_seeds, help="like 0-9 or 0,2,4; default: the suites', else 0-9")
    add("--output", type=Path, required=True, metavar="DIR", help="of the records")
    add("--jobs", type=int, default=1, help="processes; default: %(default)s")
    add("--scheduler", metavar="ADDRESS", help="of Dask, instead of --jobs")
    add("--budget", type=int, metavar="N", help="evaluations; default: the problem's own")
    add("--reference", type=Path, metavar="DIR", help="the authors' runs")
    add("--data-dir", type=Path, metavar="DIR", help="MNIST's IDX files, instead of OpenML's")
    add("--preset", default="cpu", help="of MNIST: cpu or paper; default: cpu")
    text = "a Python file that registers methods; one that changes needs another name or --output"
    add("--plugin", type=Path, nargs="+", default=[], metavar="FILE.py", help=text)
    add("--pack", type=Path, metavar="FILE.json.xz", help="what reports need of all of --output")
    add("--retry-failed", action="store_true", help="run what failed again")
    text = "all seeds of a problem at once, as tensors, for methods that can; seconds are shares"
    add("--batched", action="store_true", help=text)
    add("--dry-run", action="store_true", help="only tell what is missing")


def plan(arguments: argparse.Namespace) -> tuple[Sources, list[Job]]:
    """Where problems and methods come from, and the runs that are asked for."""
    plugins = tuple(arguments.plugin)
    sources = Sources(arguments.reference, arguments.data_dir, arguments.preset, plugins)
    suites = [SUITES[name] for name in arguments.suite]
    if arguments.problems:
        suites.append(Suite("given by name", tuple(arguments.problems)))
    if not suites:
        raise SystemExit("expected --suite or --problems; got neither: see --help")
    try:
        load_plugins(plugins)
        jobs = plan_jobs(suites, sources, arguments.methods, arguments.seeds, arguments.budget)
    except (BotorchError, KeyError, ValueError, OSError, RuntimeError) as error:
        raise SystemExit(error.args[0] if isinstance(error, KeyError) else str(error)) from None
    return sources, jobs


def run(arguments: argparse.Namespace) -> int:
    """Plan, run what is missing, write the records."""
    if arguments.jobs < 1:
        raise SystemExit(f"expected --jobs of 1 or more; got {arguments.jobs}")
    sources, jobs = plan(arguments)
    try:
        missing = find_missing(jobs, arguments.output, arguments.retry_failed)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    if arguments.dry_run:
        print(f"{len(missing)} of {len(jobs)} runs are missing:")
        print("\n".join(f"{job.problem}, {job.method}, seed {job.seed}" for job in missing))
        return 0
    status = 0
    if not missing:
        print(f"nothing to do: all {len(jobs)} runs have a record in {arguments.output}")
    else:
        workers = min(arguments.jobs, len(missing))
        with only_writer(arguments.output), open_executor(workers, arguments.scheduler) as executor:
            status = execute(
                executor, missing, len(jobs), sources, arguments.output, arguments.batched
            )
    if arguments.pack is not None and status == 0:
        count = write_packed(read_table([arguments.output]), arguments.pack)
        print(f"{count} records packed into {arguments.pack}")
    return status
