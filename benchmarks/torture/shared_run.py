"""Several processes on one run file, killed at random; started by tests and by torture commands.

Each asks, evaluates and tells until the budget is used up, and writes down each evaluation that it
begins and ends. ``python -m benchmarks.torture.shared_run PATH EVALUATED SEED PROCESSES KILLS``
starts them.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 200
NUM_INITIAL = 185
"""Points of a design cost nothing; the last ones are proposed by a model."""


def work(path: Path, evaluated: Path, budget: int, num_initial: int) -> None:
    """One process of several; a trial that a killed one left pending is taken over."""
    from botorch_ubo import SearchSettings, minimize

    def objective(x: list[float]) -> float:
        name = uuid.uuid4().hex
        (evaluated / f"{name}.begun").write_text(repr(x))
        time.sleep(random.random() * 0.02)
        (evaluated / f"{name}.ended").write_text(repr(x))
        return (x[0] - 2.5) ** 2 + (x[1] + 1.0) ** 2

    options: dict[str, Any] = {"search": SearchSettings(1, 16, {"maxiter": 5}), "seed": 5}
    minimize(
        objective,
        [(-1.0, 1.0), (0.0, 3.0)],
        budget=budget,
        num_initial=num_initial,
        checkpoint=path,
        **options,
    )


@dataclass
class Crew:
    """Processes that share a run, forked from one that has imported everything."""

    path: Path
    evaluated: Path
    chance: random.Random
    budget: int = BUDGET
    num_initial: int = NUM_INITIAL
    kills: int = 0
    reads: int = 0
    seen: list[tuple[float, ...]] = field(default_factory=list)

    def fork(self) -> int:
        """Start one more."""
        child = os.fork()
        if child == 0:
            random.seed(os.getpid())
            try:
                work(self.path, self.evaluated, self.budget, self.num_initial)
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        return child

    def look(self) -> None:
        """Read the run while others write: it only ever grows."""
        from botorch_ubo import UnboundedOptimizer

        if not self.path.exists() or not self.path.stat().st_size:
            return
        trials = UnboundedOptimizer.open(self.path).trials
        assert [trial.X for trial in trials[: len(self.seen)]] == self.seen
        self.seen = [trial.X for trial in trials]
        self.reads += 1

    def run(self, num_processes: int, num_kills: int) -> list[int]:
        """Keep so many going, kill at random, until all is done; exit codes of those not killed."""
        children, codes = {self.fork() for _ in range(num_processes)}, []
        killed: set[int] = set()
        while children:
            if self.kills < num_kills:
                time.sleep(self.chance.uniform(0.05, 0.4))
                self.look()
                child = self.chance.choice(sorted(children))
                os.kill(child, signal.SIGKILL)
                killed.add(child)
            child, status = os.waitpid(-1, 0 if self.kills >= num_kills else os.WNOHANG)
            while child:
                children.discard(child)
                if child in killed and os.WIFSIGNALED(status):
                    self.kills += 1
                    children.add(self.fork())
                else:
                    codes.append(os.waitstatus_to_exitcode(status))
                try:
                    child, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    break
            if not children:
                break
        return codes


def main(path: str, evaluated: str, seed: int, num_processes: int, num_kills: int) -> None:
    import botorch_ubo  # noqa: F401  (imported once, for all)

    crew = Crew(Path(path), Path(evaluated), random.Random(seed))
    codes = crew.run(num_processes, num_kills)
    print(crew.kills, crew.reads, *codes)


def start(path: Path, evaluated: Path, seed: int = 0, processes: int = 4, kills: int = 12) -> str:
    """All of it in a process of its own, which forks without the tests' threads."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.torture.shared_run", str(path), str(evaluated)]
        + [str(number) for number in (seed, processes, kills)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
