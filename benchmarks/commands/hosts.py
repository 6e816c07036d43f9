"""Each host's own default against ours in the same host, from the same wrong start.

The host is told wide limits, ours the start box too. Problems: a quadratic whose optimum is 5.5
sides and 2.5 decades away, and the error of a support vector machine on digits from a plateau. The
last table has the CPU seconds of a suggestion through the adapter over those of ``propose`` itself,
interleaved in one process with the same record of 20 evaluations.
"""

import argparse
from pathlib import Path

from benchmarks.commands.options import json_file, parse_seeds
from benchmarks.report.hosts import format_hosts
from benchmarks.runs.hosts import ADAPTERS, DEFAULTS, HOSTS, PROBLEMS, measure_overhead, run_host
from benchmarks.runs.metadata import save_json

HELP = "Optuna, Ax, Xopt and SciPy: their own defaults against ours, and what an adapter costs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--hosts", nargs="+", choices=[*HOSTS], default=[*HOSTS], help="default: all")
    add("--budget", type=int, default=25, help="evaluations; default: %(default)s")
    add("--seeds", type=parse_seeds, default=[0, 1, 2], help="such as 0-4; default: 0-2")
    add("--repeats", type=int, default=20, help="suggestions that are timed; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="for all values; FILE.md has tables")


def run(arguments: argparse.Namespace) -> int:
    """Run, print the tables, write the values."""
    runs = []
    for name, problem in PROBLEMS.items():
        for host in arguments.hosts:
            for ours in (False, True):
                for seed in arguments.seeds:
                    log = run_host(host, ours, problem, arguments.budget, seed)
                    runs.append(
                        {
                            "problem": name,
                            "host": host,
                            "method": "botorch_ubo" if ours else DEFAULTS[host],
                            "ours": ours,
                            "seed": seed,
                            "values": log.values,
                            "seconds": log.seconds,
                        }
                    )
                    print(f"{name}, {host}, {runs[-1]['method']}, seed {seed}: {log.best:.4g}")
    overhead = {
        host: measure_overhead(host, arguments.repeats, seed=0)
        for host in arguments.hosts
        if host in ADAPTERS
    }
    text = format_hosts(runs, overhead)
    print(text)
    save_json(arguments.output, runs=runs, overhead=overhead, budget=arguments.budget)
    if arguments.output is not None:
        Path(arguments.output).with_suffix(".md").write_text(text + "\n")
    return 0
