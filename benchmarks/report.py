"""Write a report of records: Markdown, figures and a table of all runs.

Reads what `run` wrote (directories, .jsonl, or packed .jsonl.gz) and writes into --output

  report.md    curves, final regret, normalised log-regret, oracle ratio, ranks, tests,
               evaluations against distance, box growth, seconds; the figures beside it
  summary.csv  one row per problem, method and seed

`--table` prints the compact table of the project's README instead, or as well.

Failed runs are listed and left out. Methods that lack runs that others have are left out of what
is paired, and named. Methods called like the default and more, `X (no cap)` beside `X`, are its
variants: they have a table of what each costs, and no place in the ranks.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from botorch_ubo.methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from benchmarks.records import Record
    from benchmarks.study import Study

NAME = "report"
HELP = "write a report of records: tables, figures, statistics"
ORACLE = "LogEI-oracle"
TITLE = "Benchmarks of botorch_ubo"


def write_report(study: Study, directory: Path, title: str, command: str) -> Path:
    """Write ``report.md``, its figures and ``summary.csv``; returns the path of the first."""
    from benchmarks.costs import write_seconds
    from benchmarks.distances import write_ablations, write_far
    from benchmarks.sections import write_suite

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "report.md"
    _remove_figures(path)
    study.frame.to_csv(directory / "summary.csv", index=False, float_format="%.6g")
    parts = [write_header(study, title, command)]
    for suite in study.suites:
        is_far = suite == "far"
        parts.append(
            write_far(study, directory) if is_far else write_suite(study, suite, directory)
        )
    if study.ablations:
        parts.append(write_ablations(study))
    if study.suites:
        parts.append(write_seconds(study))
    path.write_text("\n\n".join(parts) + "\n")
    return path


def _remove_figures(path: Path) -> None:
    """Remove the figures of a former report, which this one may not have."""
    if path.exists():
        for name in re.findall(r"\]\((\w+\.png)\)", path.read_text()):
            (path.parent / name).unlink(missing_ok=True)


def write_header(study: Study, title: str, command: str) -> str:
    """What was run, with what, and what failed."""
    records = study.records
    seeds = sorted({record.seed for record in records})
    failed = [record for record in records if record.status != "ok"]
    lines = [
        f"- {len(records)} records of {len({r.problem for r in records})} problems and "
        f"{len({r.method for r in records})} methods; seeds {', '.join(map(str, seeds))}",
        f"- reported by `{command}`",
        *(f"- recorded by `{text}`" for text in _commands(records)),
        f"- compared with {study.default}; told the true domain: {study.oracle}",
        *_counted("commit", [_commit(record) for record in records]),
        *_counted("versions", [_versions(record) for record in records]),
        *_counted("machine", [_machine(record) for record in records]),
        "- every run: [summary.csv](summary.csv)",
        f"- failed: {len(failed) or 'none'}",
        *(f"  - {r.problem}, {r.method}, seed {r.seed}: {_first_line(r)}" for r in failed),
    ]
    return f"# {title}\n\n" + "\n".join(lines)


def _commands(records: list[Record]) -> list[str]:
    return sorted({str(r.metadata["command"]) for r in records if r.metadata.get("command")})


def _counted(label: str, values: list[str]) -> list[str]:
    """A line per different value, with the number of records if there are several."""
    counts = Counter(values)
    several = len(counts) > 1
    return [
        f"- {label}: {value}" + (f" ({count} records)" if several else "")
        for value, count in counts.most_common()
    ]


def _commit(record: Record) -> str:
    changed = " with uncommitted changes" if record.metadata.get("uncommitted_changes") else ""
    return f"{record.metadata.get('commit') or 'not known'}{changed}"


def _versions(record: Record) -> str:
    packages = record.metadata.get("packages") or {}
    known = [f"{name} {version}" for name, version in packages.items() if version]
    return ", ".join([f"Python {record.metadata.get('python', 'not known')}", *known])


def _machine(record: Record) -> str:
    found = record.metadata
    device = found.get("device") or found.get("gpu") or "cpu"
    return (
        f"{found.get('cpu', 'not known')}, {found.get('cores', '?')} cores, "
        f"{found.get('threads', '?')} thread(s) per run, device {device}"
    )


def _first_line(record: Record) -> str:
    return ((record.error or "no message").strip().splitlines() or ["no message"])[-1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--records", type=Path, nargs="+", required=True, metavar="PATH",
        help="directories, .jsonl or .jsonl.gz; of several records of one run the last counts",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write the report")
    parser.add_argument(
        "--table", action="store_true", help="print the README's table; --output may be absent then"
    )
    parser.add_argument(
        "--problems", nargs="+", default=["*"], metavar="NAME",
        help="names or patterns, such as 'far_*'; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--methods", nargs="+", default=[], metavar="NAME",
        help="of curves and of --table; default: oracle, default, the best three others, the "
        "paper's; the report's tables have all",
    )  # fmt: skip
    parser.add_argument(
        "--oracle", default=ORACLE, metavar="METHOD",
        help="the method that is told the domain; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--default", default=DEFAULT_METHOD, metavar="METHOD",
        help="the method to compare the others with; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--title", default=TITLE, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Read the records, write the report, print the table."""
    if arguments.output is None and not arguments.table:
        raise SystemExit("expected --output DIR or --table; got neither: say where to write")
    try:
        import pandas as pd  # noqa: F401
        import scikit_posthocs  # noqa: F401
    except ImportError as error:
        raise SystemExit(f"{error}; the report needs: pip install '.[benchmarks]'") from error
    from benchmarks.compact import write_compact
    from benchmarks.study import load_study

    try:
        study = load_study(
            arguments.records,
            arguments.oracle,
            arguments.default,
            arguments.problems,
            arguments.methods,
        )
    except (ValueError, FileNotFoundError) as error:
        raise SystemExit(str(error)) from error
    if arguments.output is not None:
        path = write_report(study, arguments.output, arguments.title, _command(arguments))
        print(f"{len(study.records)} records: {path}")
    if arguments.table:
        print(write_compact(study))
    return 0


def _command(arguments: argparse.Namespace) -> str:
    words = ["python", "-m", "benchmarks", NAME, "--records", *map(str, arguments.records)]
    if arguments.problems != ["*"]:
        words += ["--problems", *arguments.problems]
    if arguments.methods:
        words += ["--methods", *arguments.methods]
    words += ["--oracle", arguments.oracle, "--default", arguments.default]
    return shlex.join([*words, "--output", str(arguments.output)])
