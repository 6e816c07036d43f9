"""The suggestions of a few steps per line of standard input, timed; run as a script of its own.

It imports whichever ``botorch_ubo`` is on the path, also one of an older version, and nothing else
of this folder: so two versions can be timed in turn.
"""

import json
import resource
import sys
import time
import warnings
from typing import Any

import torch

import botorch_ubo

STEPS = 5


def suggest(case: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of the fit and of all, MiB that the process has grown by, and its most so far."""
    X, Y, bounds = (torch.tensor(case[key], dtype=torch.double) for key in ("X", "Y", "bounds"))
    given = {
        name: torch.tensor(case[name], dtype=torch.double)
        for name in ("X_pending", "X_failed")
        if case[name]
    }
    before = _peak_memory()
    box = botorch_ubo.ExpandingBounds(bounds)
    fit = getattr(box, "fit", None)  # 0.1.0 had a function instead
    fitting = total = 0.0
    for n in range(len(X) - STEPS + 1, len(X) + 1):
        began = time.process_time()
        if fit is None:
            model = botorch_ubo.fit_default_model(X[:n], Y[:n], bounds)
        else:
            model = fit(X[:n], Y[:n])
        fitting += time.process_time() - began
        box.suggest(model, q=case["q"], **given)
        total += time.process_time() - began
    peak = _peak_memory()
    seconds = {"fit": fitting / STEPS, "seconds": total / STEPS}
    return {**seconds, "memory": peak - before, "peak": peak}


def _peak_memory() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(suggest(json.loads(line))), flush=True)
