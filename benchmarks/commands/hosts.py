"""Each host's own default against ours in the same host, from the same wrong start.

The host is told wide limits, ours the start box too. Problems: a quadratic whose optimum is 5.5
sides and 2.5 decades away, and the error of a support vector machine on digits from a plateau. The
last table has the CPU seconds of a suggestion through the adapter over those of ``propose`` itself,
interleaved in one process with the same record of 20 evaluations; for SciPy, which has no record,
those of a run over those of the same run without SciPy. What --output has of an earlier call with
the same budget is not run again.
"""

import argparse
from itertools import product
from pathlib import Path

from benchmarks.commands.options import json_file, parse_seeds
from benchmarks.report.hosts import format_hosts
from benchmarks.runs.hosts import DEFAULTS, HOSTS, PROBLEMS, read_hosts, run_host
from benchmarks.runs.hosts_overhead import measure_overhead
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
    """Run what is missing, print the tables, write the values after each run."""
    budget, output = arguments.budget, arguments.output
    known = read_hosts(output, budget)
    runs, overhead = [], {}
    for name, host, ours, seed in product(
        PROBLEMS, arguments.hosts, (False, True), arguments.seeds
    ):
        key = {"problem": name, "host": host, "ours": ours, "seed": seed}
        found = [run for run in known if key.items() <= run.items()]
        if not found:
            log = run_host(host, ours, PROBLEMS[name], budget, seed)
            method = "botorch_ubo" if ours else DEFAULTS[host]
            found = [{**key, "method": method, "values": log.values, "seconds": log.seconds}]
            print(f"{name}, {host}, {method}, seed {seed}: {log.best:.4g}", flush=True)
        runs += found[:1]
        rest = [run for run in known if run not in runs]
        save_json(output, runs=[*runs, *rest], overhead=overhead, budget=budget)
    for host in arguments.hosts:
        overhead[host] = measure_overhead(host, arguments.repeats, seed=0)
    text = format_hosts(runs, overhead)
    print(text)
    save_json(output, runs=runs, overhead=overhead, budget=budget)
    if output is not None:
        Path(output).with_suffix(".md").write_text(text + "\n")
    return 0
