"""Make all results anew at one code version: every run, the packed file, the report.

The steps are calls of `run` into one directory of records, so that a command that was killed goes
on where it stopped. A directory with records of other sources is refused: all runs are of one
version. When all steps are done the records are packed and the report is written.

  python -m benchmarks results --list                       the steps, with hours of two cores
  python -m benchmarks results --records DIR --jobs 2 --reference DIR --data-dir DIR
  python -m benchmarks results --records DIR --steps paper5 highdim
  python -m benchmarks results --check                      exit status 1 if anything differs
  python -m benchmarks results --write                      all that --check compares

--check makes report and tables from the committed records and compares them with what is
committed: report.md and targets.md word by word, the figures by name, the results of the README
and the table of the docs. summary.csv is not committed: it follows from the packed records.
--write puts all of these where they belong.
"""

import argparse
import filecmp
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import run as run_command
from benchmarks.problems.problem import Sources
from benchmarks.problems.registry import find_problem
from benchmarks.runs.steps import STEPS, Step, estimate_hours, foreign_code, has_records
from benchmarks.runs.table import read_table, write_packed
from benchmarks.runs.versions import BENCHMARKS, MixedVersionsError, fingerprint
from botorch_ubo.methods import DEFAULT_METHOD

HELP = "make all results anew at one code version, or check that they are what is committed"
RESULTS = BENCHMARKS / "results"
PAGE = BENCHMARKS.parent / "docs" / "methods.md"
README = BENCHMARKS.parent / "README.md"
PACKED = "records.json.xz"
COMMAND = (
    "python -m benchmarks report --records benchmarks/results/records.json.xz "
    "--output benchmarks/results"
)
TARGETS = "targets.md"
_TEXTS = ("report.md", TARGETS)
_NOT_COMMITTED = "summary.csv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    names = [step.name for step in STEPS]
    add("--records", type=Path, metavar="DIR", help="of all records, to go on from")
    add("--steps", nargs="+", default=names, choices=names, metavar="STEP", help=", ".join(names))
    add("--jobs", type=int, default=2, help="processes; default: %(default)s")
    add("--reference", type=Path, metavar="DIR", help="the authors' runs; without, no such step")
    add("--data-dir", type=Path, metavar="DIR", help="MNIST's files; without, no such step")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="default: benchmarks/results")
    add("--page", type=Path, default=PAGE, metavar="FILE.md", help="with the table of the docs")
    add("--readme", type=Path, default=README, metavar="FILE.md", help="with the results")
    add("--list", action="store_true", help="only tell steps, runs and hours")
    add("--check", action="store_true", help="only compare with what is committed")
    add("--write", action="store_true", help="only write what --check compares")


def run(arguments: argparse.Namespace) -> int:
    """List, check, or run what is missing and report."""
    if arguments.check:
        return check(arguments.results, arguments.page, arguments.readme)
    if arguments.write:
        return write(arguments.results, arguments.page, arguments.readme)
    steps = [step for step in STEPS if step.name in arguments.steps]
    left_out = [s for s in steps if s.needs is not None and getattr(arguments, s.needs) is None]
    for step in left_out:
        print(f"{step.name} is left out: it needs --{(step.needs or '').replace('_', '-')}")
    steps = [step for step in steps if step not in left_out]
    if arguments.list:
        return list_steps(steps, arguments)
    if arguments.records is None:
        raise SystemExit("expected --records DIR, --list, --write or --check; got none of them")
    refuse_foreign(arguments.records)
    for step in steps:
        print(f"{step.name}:", flush=True)
        status = run_command.run(_parse(step, arguments))
        if status:
            return status
    table = read_table([arguments.records])
    count = write_packed(table, arguments.results / PACKED)
    print(f"{count} records in {arguments.results / PACKED}")
    return write(arguments.results, arguments.page, arguments.readme)


def write(results: Path, page: Path, readme: Path) -> int:
    """Write the report of the packed records and what stands elsewhere; returns the exit status."""
    made, status = build(results / PACKED, results), 0
    for path, name in _places(page, readme):
        known = path.read_text(encoding="utf-8") if path.is_file() else ""
        begin, end = _marks(name)
        head, begun, rest = known.partition(begin)
        _, ended, tail = rest.partition(end)
        if begun and ended:
            text = f"{head}{begin}\n\n{getattr(made, name)}\n\n{end}{tail}"
            path.write_text(text, encoding="utf-8")
        else:
            print(f"{path.name} has no place for the {name}: {begin} ... {end}")
            status = 1
    print(
        f"{results / 'report.md'}, {results / TARGETS}, {readme.name} and {page.name} are written"
    )
    return status


def _places(page: Path, readme: Path) -> tuple[tuple[Path, str], ...]:
    """Pages, and the field of ``Made`` that stands there."""
    return (readme, "front"), (page, "front"), (page, "table")


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: made by `make results` -->", f"<!-- end of {name} -->"


def _parse(step: Step, arguments: argparse.Namespace) -> argparse.Namespace:
    """The arguments of `run` for a step."""
    parser = argparse.ArgumentParser()
    run_command.add_arguments(parser)
    words = [*step.words, "--output", str(arguments.records or "records")]
    words += ["--jobs", str(arguments.jobs)]
    if step.needs is not None:
        words += [f"--{step.needs.replace('_', '-')}", str(getattr(arguments, step.needs))]
    return parser.parse_args(words)


def refuse_foreign(directory: Path) -> None:
    """End if there are records of other sources than these."""
    found = foreign_code(read_table([directory]), fingerprint()) if has_records(directory) else {}
    if found:
        words = ", ".join(f"{name} ({count} runs)" for name, count in found.items())
        raise SystemExit(
            f"expected records of the code {fingerprint()} alone in {directory}; there are some of "
            f"{words}. Use another --records, or the sources of those."
        )


def list_steps(steps: list[Step], arguments: argparse.Namespace) -> int:
    """Print runs and hours of every step, from the seconds of the committed records."""
    measured, total = read_table([arguments.results / PACKED]), 0.0
    print("hours of two cores, from the seconds of the committed records:")
    if "evaluating" not in measured:
        print("  (these lack the seconds of evaluations: hours are those of thinking alone)")
    for step in steps:
        sources, jobs = run_command.plan(_parse(step, arguments))
        dims = _dims({job.problem: job.seed for job in jobs}, sources)
        hours = estimate_hours(jobs, dims, measured)
        total += hours
        print(f"  {step.name}: {len(jobs)} runs, about {hours:.1f} h")
    print(f"  all: about {total:.1f} h")
    return 0


def _dims(seeds: dict[str, int], sources: Sources) -> dict[str, int]:
    return {name: find_problem(name, seed, sources).dim for name, seed in seeds.items()}


@dataclass(frozen=True)
class Made:
    """What stands on other pages than the report: the README's block and the table of the docs."""

    front: str
    table: str


def build(packed: Path, output: Path) -> Made:
    """Write the report of packed records; returns what stands elsewhere."""
    from benchmarks.commands.report import ORACLE
    from benchmarks.report.compact import write_compact
    from benchmarks.report.document import write_report
    from benchmarks.report.front import write_front
    from benchmarks.report.study import load_study
    from benchmarks.report.targets import write_targets

    study = load_study([packed], ORACLE, DEFAULT_METHOD)
    write_report(study, output, COMMAND)
    targets = f"# What the default is to reach\n\n{write_targets(study.frame, DEFAULT_METHOD)}\n"
    (output / TARGETS).write_text(targets, encoding="utf-8")
    return Made(write_front(study), write_compact(study))


def check(results: Path, page: Path, readme: Path) -> int:
    """Make report and tables in another place and tell what differs; returns the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory)
        try:
            elsewhere = build(results / PACKED, made)
        except (MixedVersionsError, FileNotFoundError) as error:
            print(f"differs: {error}")
            return 1
        names = sorted(path.name for path in made.iterdir() if path.name != _NOT_COMMITTED)
        wrong = [name for name in names if not (results / name).is_file()]
        wrong += [
            name
            for name in _TEXTS
            if name not in wrong and not filecmp.cmp(made / name, results / name, shallow=False)
        ]
    for path, name in _places(page, readme):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if getattr(elsewhere, name) not in text:
            wrong.append(f"the {name} in {path.name}")
    for name in wrong:
        print(f"differs: {name}")
    if wrong:
        print("`python -m benchmarks results --write` makes them anew")
    return int(bool(wrong))
