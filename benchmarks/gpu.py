"""Time one step on the CPU and on a GPU: fit, geometry, search; and compare what they compute.

  fit       10 steps of L-BFGS-B on the marginal likelihood of BoTorch's default GP
  geometry  posterior summary, radius, beta and box
  search    20 steps of the batched maximisation of UCB (q = 1) or qUCB from 512 raw samples

Two rounds of warm-up, then --repeats timed ones; clocks are read when the device has finished.
Memory: the peak of the device's tensors, or on the CPU the peak of the process so far.
TF32 is off.

After that, values, gradients, boxes and suggestions of every device are compared with the CPU's.
`simgpu` is a pretend device that obeys CUDA's rules on the CPU: it is compared, never timed.

Have you got a GPU? Run `python -m benchmarks gpu --devices cpu cuda --output FILE.json` on an
otherwise idle machine and send FILE.json with an issue.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning

from benchmarks.gpu_cases import DTYPES, Case, Timing, measure
from benchmarks.gpu_equality import RTOL, Equality, compare
from benchmarks.metadata import collect_metadata
from benchmarks.pool import local_executor

NAME = "gpu"
HELP = "time a step on the CPU and on a GPU, and compare their results"

DEVICES = ("cpu", "cuda", "simgpu")
SIZES = (32, 128, 512, 1024, 2048, 4096)
_SIZE_OF_COMPARISON = 128  # on the pretend device every operation passes through Python


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--devices", nargs="+", choices=DEVICES, default=list(DEVICES),
        help="default: all; what is not there is reported as such",
    )  # fmt: skip
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), metavar="N",
        help="numbers of data; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 10], help="default: 2 10")
    parser.add_argument("--q", type=int, nargs="+", default=[1, 8], help="default: 1 8")
    parser.add_argument("--restarts", type=int, nargs="+", default=[10, 50], help="default: 10 50")
    parser.add_argument(
        "--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES), help="default: double float"
    )
    parser.add_argument("--repeats", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="a grid of seconds, to try it out")
    parser.add_argument(
        "--output", type=Path, metavar="FILE.json", help="write all times here, tables to FILE.md"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, compare, print the tables, write the files; 1 if a device differs from the CPU."""
    try:
        from benchmarks.gpu_tables import format_report
    except ImportError as error:
        raise SystemExit(f"{error}; the tables need: pip install '.[benchmarks]'") from error
    if arguments.smoke:
        arguments.sizes, arguments.dims, arguments.repeats = [16, 32], [2], 2
        arguments.q, arguments.restarts = [1, 2], [2]
    if min(arguments.sizes) < 2 or arguments.repeats < 1:
        raise SystemExit("expected --sizes of 2 or more and --repeats of 1 or more")
    output: Path | None = arguments.output
    if output is not None and output.suffix != ".json":
        raise SystemExit(f"expected --output FILE.json (tables go to FILE.md); got {output}")
    torch.backends.cuda.matmul.allow_tf32 = False
    environment = describe_environment()
    print(json.dumps(environment, indent=1), flush=True)
    present = [d for d in arguments.devices if d != "cuda" or torch.cuda.is_available()]
    timings: list[Timing] = []
    with warnings.catch_warnings():
        # Steps are few on purpose, and single precision is a question, not an oversight.
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        for timing in _measure_all(arguments, [d for d in present if d != "simgpu"]):
            timings.append(timing)
            print(f"measured {timing.case} {timing.stage} on {timing.device}", flush=True)
    equalities = _compare_all(arguments, [d for d in present if d != "cpu"])
    report = format_report(timings, equalities, "cuda" in present)
    print(report)
    if output is not None:
        _write(output, environment, timings, equalities, report)
    return 0 if all(equality.equal for equality in equalities) else 1


def describe_environment() -> dict[str, Any]:
    """Machine, versions, and what there is to know of the GPU."""
    environment = collect_metadata()
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        environment["cuda"] = {
            "version": torch.version.cuda,
            "name": properties.name,
            "capability": f"{properties.major}.{properties.minor}",
            "memory_mib": properties.total_memory // 2**20,
            "multiprocessors": properties.multi_processor_count,
        }
    return environment


def _measure_all(arguments: argparse.Namespace, devices: Sequence[str]) -> Iterator[Timing]:
    for n in sorted(arguments.sizes):
        for dim in arguments.dims:
            for dtype in arguments.dtypes:
                case = Case(n, dim, dtype)
                for device in devices:
                    for stage in ("fit", "geometry"):
                        yield measure(case, device, stage, arguments.repeats)
                    for q in arguments.q:
                        for restarts in arguments.restarts:
                            yield measure(case, device, "search", arguments.repeats, q, restarts)


def _compare_all(arguments: argparse.Namespace, devices: Sequence[str]) -> list[Equality]:
    n = min(_SIZE_OF_COMPARISON, max(arguments.sizes))
    wanted = [
        (Case(n, dim, dtype), device)
        for device in devices for dim in arguments.dims for dtype in arguments.dtypes
    ]  # fmt: skip
    # In a new process: a pretend device must be there before torch computes its first gradient.
    with local_executor(1) as executor:
        return list(executor.map(compare, *zip(*wanted, strict=True))) if wanted else []


def _write(
    output: Path,
    environment: dict[str, Any],
    timings: Sequence[Timing],
    equalities: Sequence[Equality],
    report: str,
) -> None:
    content = {
        "metadata": environment,
        "rtol": RTOL,
        "timings": [asdict(timing) for timing in timings],
        "equalities": [{**asdict(e), "equal": e.equal} for e in equalities],
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(content, indent=1))
    about = (__doc__ or "").strip()
    title = "# One step on the CPU and on a GPU\n\n"
    fenced = f"```\n{json.dumps(environment, indent=1)}\n```"
    output.with_suffix(".md").write_text(f"{title}{about}\n\n{report}\n\n{fenced}\n")
