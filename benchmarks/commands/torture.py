"""Attack the package, and count: nothing may be lost, and nothing may end in an opaque error.

Hard limits are compared with no tolerance. Runs are killed with SIGKILL, in the middle of a step or
of a write, and resumed. Bytes and values of a run file are changed; the file then says the same as
before or is refused in words. Readers and writers share a file. Data, arguments, return values,
exceptions and units are absurd.

Survived: the right answer, or a refusal in words where one is due. Lost: a limit is crossed, a
trial is gone, doubled or another, or nonsense was taken for sense. Opaque: an error that is not the
package's own, one where none is due, or no answer within two minutes.

The exit status is 1 if anything was lost or opaque.
"""

import argparse
from concurrent.futures import as_completed

from tqdm.auto import tqdm

from benchmarks.commands.options import json_file
from benchmarks.report.measured import format_torture
from benchmarks.runs.metadata import save_json
from benchmarks.runs.pool import open_executor
from benchmarks.torture.attacks import ATTACKS, run_attack

HELP = "attack limits, run files, processes, data and units, and count what is lost"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--scale", type=float, default=1.0, help="of all counts; 0.01 is a quick look")
    add("--attacks", nargs="+", choices=list(ATTACKS), default=list(ATTACKS), help="default: all")
    add("--seed", type=int, default=0, help="default: %(default)s")
    add("--jobs", type=int, default=2, help="attacks at a time; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="counts; the table goes to FILE.md")


def run(arguments: argparse.Namespace) -> int:
    """Attack, print the table, write the files; 1 if anything was lost or opaque."""
    if not arguments.scale > 0 or arguments.jobs < 1:
        raise SystemExit("expected a positive --scale and --jobs of 1 or more")
    found = {}
    with open_executor(arguments.jobs) as executor:
        futures = {
            executor.submit(run_attack, name, arguments.scale, arguments.seed): name
            for name in arguments.attacks
        }
        for future in tqdm(as_completed(futures), total=len(futures), unit="attack"):
            found[futures[future]] = future.result().to_dict()
    attacks = [{"name": name, **found[name]} for name in ATTACKS if name in found]
    report = format_torture(attacks)
    print(report)
    settings = {"scale": arguments.scale, "seed": arguments.seed, "jobs": arguments.jobs}
    save_json(arguments.output, settings=settings, attacks=attacks)
    if arguments.output is not None:
        about = __doc__.rsplit("\n\n", 1)[0]
        arguments.output.with_suffix(".md").write_text(f"# Torture\n\n{about}\n\n{report}\n")
    return int(any(attack["losses"] or attack["opaque"] for attack in attacks))
