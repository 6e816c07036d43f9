"""Time one step on the CPU and on a GPU: fit, geometry, search; and compare what they compute.

  fit       10 steps of L-BFGS-B on the marginal likelihood of BoTorch's default GP
  geometry  posterior summary, radius, beta and box
  search    20 steps of the batched maximisation of UCB (q = 1) or qUCB from 512 raw samples
  default   the default method as it is: its fit, then its box and search

Two rounds of warm-up, then --repeats timed ones; clocks are read when the device has finished.
Memory: the peak of the device's tensors, or on the CPU the peak of the process so far.
TF32 is off.

With `--stages runs`, many runs at once (`BatchedRuns`, the default method): suggestions per second
for --runs of them with 30 data, the kernel launches of a step, and on the CPU the ratio to the same
runs one after the other; with --before FOLDER, a checkout, also to an older version's.

After that, values, gradients, boxes and suggestions of the GPU are compared with the CPU's; the
default's suggestion by the CPU's model, in nats of log expected improvement.

Have you got a GPU? Run `python -m benchmarks gpu --stages step runs --output FILE.json` on an
otherwise idle machine: FILE.json and FILE.md are what benchmarks/results has, with columns filled.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning

from benchmarks.commands.options import json_file
from benchmarks.report.measured import format_gpu, format_many_runs
from benchmarks.runs.gpu import DTYPES, Case, compare, measure
from benchmarks.runs.many_runs import ManyRuns, measure_many
from benchmarks.runs.metadata import save_json
from benchmarks.runs.speed import Version

HELP = "time a step on the CPU and on a GPU, and compare their results"

DEVICES = ["cpu", "cuda"]
SIZES = [32, 128, 512, 1024, 2048, 4096]
SIZE_OF_COMPARISON = 128
RUNS = [1, 4, 16, 64, 256, 1024]
STAGES = ["step", "runs"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--devices", nargs="+", default=DEVICES, help="torch's names; default: cpu, cuda if there")
    add("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of data")
    add("--dims", type=int, nargs="+", default=[2, 10], help="default: 2 10")
    add("--q", type=int, nargs="+", default=[1, 8], help="default: 1 8")
    add("--restarts", type=int, nargs="+", default=[10, 50], help="default: 10 50")
    add("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES), help="default: all")
    add("--stages", nargs="+", choices=STAGES, default=["step"], help="default: step")
    add("--runs", type=int, nargs="+", default=RUNS, metavar="R", help="of `--stages runs`")
    add("--data", type=int, nargs="+", default=[30], metavar="N", help="of each of those runs")
    add("--before", type=Path, metavar="FOLDER", help="of an older version, for `--stages runs`")
    add("--repeats", type=int, default=20, help="default: %(default)s")
    add("--output", type=json_file, metavar="FILE.json", help="all times; tables go to FILE.md")


def run(arguments: argparse.Namespace) -> int:
    """Measure, compare, print the tables, write the files; 1 if a device differs from the CPU."""
    if min(arguments.sizes) < 2 or arguments.repeats < 1:
        raise SystemExit("expected --sizes of 2 or more and --repeats of 1 or more")
    torch.backends.cuda.matmul.allow_tf32 = False
    devices = list(filter(_is_there, arguments.devices))
    timings, equalities, many = [], [], []
    with warnings.catch_warnings():
        # Steps are few on purpose, and single precision is a question, not an oversight.
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        if "step" in arguments.stages:
            for timing in _measure_all(arguments, devices):
                timings.append(timing)
                print("measured", *timing.values(), flush=True)
            compared = _cases(arguments, [min(SIZE_OF_COMPARISON, max(arguments.sizes))])
            others = [device for device in devices if device != "cpu"]
            equalities = [compare(case, device) for device in others for case in compared]
        if "runs" in arguments.stages:
            with _version(arguments.before) as before:
                for case in _many(arguments):
                    for device in devices:
                        many.append(measure_many(case, device, arguments.repeats, before))
                        print("measured", *many[-1].values(), flush=True)
    parts = [format_gpu(timings, equalities)] if timings else []
    parts += [format_many_runs(many)] if many else []
    report = "\n\n".join(parts)
    print(report)
    save_json(arguments.output, timings=timings, equalities=equalities, runs=many)
    if arguments.output is not None:
        text = f"# One step on the CPU and on a GPU\n\n{__doc__.strip()}\n\n{report}\n"
        arguments.output.with_suffix(".md").write_text(text)
    return 0 if all(found["equal"] for found in equalities) else 1


@contextmanager
def _version(folder: Path | None) -> Iterator[Version | None]:
    """An older version in a process of its own, if there is one to compare with."""
    version = None if folder is None else Version(folder)
    try:
        yield version
    finally:
        if version is not None:
            version.close()


def _is_there(device: str) -> bool:
    """Whether there is a CUDA device; a name that torch does not know is a mistake."""
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise SystemExit(f"expected --devices like cpu or cuda; got {device}: {error}") from None
    return kind != "cuda" or torch.cuda.is_available()


def _cases(arguments: argparse.Namespace, sizes: Sequence[int]) -> list[Case]:
    return [Case(n, dim, dtype)
            for n in sizes for dim in arguments.dims for dtype in arguments.dtypes]  # fmt: skip


def _many(arguments: argparse.Namespace) -> list[ManyRuns]:
    return [ManyRuns(runs, n, dim, dtype)
            for n in arguments.data for dim in arguments.dims for dtype in arguments.dtypes
            for runs in sorted(arguments.runs)]  # fmt: skip


def _measure_all(arguments: argparse.Namespace, devices: Sequence[str]) -> Iterator[dict[str, Any]]:
    for case in _cases(arguments, sorted(arguments.sizes)):
        for device in devices:
            for stage in ("fit", "geometry", "default: fit", "default: suggestion"):
                yield measure(case, device, stage, arguments.repeats)
            for q in arguments.q:
                for restarts in arguments.restarts:
                    yield measure(case, device, "search", arguments.repeats, q, restarts)
