"""When to stop: the certificate against a published rule and Optuna's terminator on the same runs.

A run has a box that stays, the function's domain, and goes to its whole budget. Every rule is asked
after every evaluation, of the same data. The data are of UCB with beta_t of Theorem 5.1, of UCB
with a fifth of it, or of LogEI: each of the first two is what one of our rules comes with, the last
is nobody's own. Functions of the textbook have a fitted model; GP sample paths have the very
process that they are drawn from, a new path for every seed. Optuna's terminator fits a model of its
own.

All rules have the same epsilon: a share of the regret that 3 d initial points leave, the median of
101 designs. "Right" is a stop with regret of at most epsilon, where regret is that of the best
evaluated value, whichever point the rule would name. "In hindsight" is the first evaluation that
is right. The rules are

  regret bound   max UCB - max LCB + 1/t^2 <= epsilon: the certificate, which is the trigger of
                 GPUCB-UBO, with beta_t of Theorem 5.1, and with the fifth of the paper's
                 experiments
  Wilson         an evaluated point is within epsilon of the optimum with probability 1 - delta
                 by draws from the posterior: J. T. Wilson, Stopping Bayesian Optimization with
                 Probabilistic Regret Bounds, NeurIPS 2024; half of delta is for the model, half
                 for Clopper and Pearson's intervals of up to 1000 draws
  Optuna         Terminator with RegretBoundEvaluator (Makarova et al., 2022; not before 20
                 trials) and StaticErrorEvaluator(epsilon)
  never          the whole budget

Started again with the same --output, the command does only what is missing.
"""

import argparse
from pathlib import Path

from tqdm.auto import tqdm

from benchmarks.commands.options import json_file, parse_seeds
from benchmarks.problems.textbook import PROBLEMS
from benchmarks.report.stopping import draw_stopping, format_stopping
from benchmarks.runs.kept import map_keys, read_kept, refuse_other_code
from benchmarks.runs.metadata import save_json
from benchmarks.runs.stopping import FUNCTIONS, PATHS, POLICIES, Key, key_of, run_to_the_end

HELP = "the certificate, a published rule and Optuna's terminator: when each would have stopped"
SETTINGS = ("budget", "share", "delta")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    names = (*FUNCTIONS, *PATHS)
    text = f"default: {' '.join(names)}; any of the textbook's"
    known = (*PROBLEMS, *PATHS)
    add("--problems", nargs="+", default=names, choices=known, metavar="PROBLEM", help=text)
    text = f"whose data; default: all of {'; '.join(POLICIES)}"
    add("--policies", nargs="+", default=[*POLICIES], choices=POLICIES, metavar="NAME", help=text)
    add("--seeds", type=parse_seeds, default=[0, 1, 2], help="default: 0-2")
    text = "evaluations of a run, initial points included; default: %(default)s"
    add("--budget", type=int, default=60, help=text)
    text = "epsilon as a share of the regret that initial points leave; default: %(default)s"
    add("--share", type=float, default=0.1, help=text)
    add("--delta", type=float, default=0.1, help="Optuna's is always 0.1; default: %(default)s")
    add("--jobs", type=int, default=1, help="processes; default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="runs; also FILE.md, FILE.png")


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing, print the tables, write the files."""
    if arguments.jobs < 1 or arguments.share <= 0 or not 0 < arguments.delta < 1:
        raise SystemExit("expected --jobs of 1 or more, --share above 0, --delta between 0 and 1")
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    # Seed by seed, so that what is done when the command is stopped has every problem equally.
    wanted: list[Key] = [
        (problem, policy, seed)
        for seed in arguments.seeds
        for problem in arguments.problems
        for policy in arguments.policies
    ]
    output: Path | None = arguments.output
    done = read_kept(output, settings, "runs", key_of)
    missing = [key for key in wanted if key not in done]
    if missing:
        refuse_other_code(output)
    results = map_keys(run_to_the_end, missing, settings, arguments.jobs)
    for found in tqdm(results, total=len(missing)):
        done[key_of(found)] = found
        save_json(output, settings=settings, runs=sorted(done.values(), key=key_of))
    chosen = [done[key] for key in wanted]
    report = format_stopping(chosen)
    print(report)
    if output is not None:
        draw_stopping(chosen, output.with_suffix(".png"))
        words = ", ".join(f"{name} {value:g}" for name, value in settings.items())
        seeds = ", ".join(map(str, arguments.seeds))
        output.with_suffix(".md").write_text(
            f"# When to stop\n\n```\n{__doc__.rsplit(chr(10) * 2, 1)[0]}\n```\n\n"
            f"Settings: {words}; seeds {seeds}.\n\n"
            f"![Regret at the stop against evaluations used]({output.stem}.png)\n\n{report}\n\n"
            "Evaluations and regrets are medians and the share saved is a mean over all runs; who "
            "does not stop uses the whole budget. Intervals are Clopper-Pearson's and take stops "
            "for independent, which those on one function with one seed are not. Seconds are of a "
            "rule in a run, until it stops. By problem: median evaluations (right stops of all).\n"
        )
    return 0
