"""Writers at once: no trial is lost, doubled or proposed twice, and one result counts."""

import json
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from botorch.exceptions.errors import InputDataError

from benchmarks.torture.processes import fork, wait_for
from benchmarks.torture.shared_run import Crew
from benchmarks.torture.small import BOX
from benchmarks.torture.tally import Tally, expect
from botorch_ubo import UnboundedOptimizer

_BY_MODEL = 15  # of the trials of a crew; those of a design cost nothing
_PROCESSES = 4
_RIVALS = 3
_KILLS_PER_TRIAL = 0.06


def attack_shared(count: int, seed: int) -> Tally:
    """Four processes share a run of ``count`` trials and are killed at random."""
    tally = Tally("four writers, killed at random")
    by_model = min(_BY_MODEL, count // 4)
    with TemporaryDirectory() as folder:
        path, evaluated = Path(folder) / "run.db", Path(folder) / "evaluated"
        evaluated.mkdir()
        crew = Crew(path, evaluated, random.Random(seed), count, count - by_model)
        codes = crew.run(_PROCESSES, round(_KILLS_PER_TRIAL * count))
        for code in codes:
            with tally.attempt("a writer that was not killed", may_refuse=False):
                expect(code == 0, f"a writer ended with {code}")
        run = UnboundedOptimizer.open(path)
        begun, ended = (
            Counter(file.read_text() for file in evaluated.glob(f"*.{what}"))
            for what in ("begun", "ended")
        )
    found = {trial.id: trial for trial in run.trials}
    points = Counter(trial.X for trial in run.trials)
    for number in range(max(count, len(run.trials))):
        with tally.attempt(f"trial {number}", may_refuse=False):
            expect(number < count, "more trials than asked for")
            expect(number in found, "it is lost")
            trial = found[number]
            expect(trial.status == "completed", f"it is {trial}")
            expect(points[trial.X] == 1, f"{trial.X} was proposed {points[trial.X]} times")
            expect(ended[repr(list(trial.X))] >= 1, "it was never evaluated")
    with tally.attempt("evaluations"):
        repeated = sum(begun.values()) - count
        expect(repeated <= crew.kills, f"{repeated} repeated after {crew.kills} kills")
    return tally


def attack_rivals(count: int, seed: int) -> Tally:
    """Three processes tell different results for the same trials: one of them counts."""
    tally, chance = Tally("three results for one trial at once"), random.Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        run = UnboundedOptimizer(BOX, checkpoint=path, num_initial=100_000, seed=seed)
        run.ask(count)
        orders = [chance.sample(range(count), count) for _ in range(_RIVALS)]
        logs = [Path(folder) / f"accepted{rival}" for rival in range(_RIVALS)]
        children = [
            fork(lambda rival=rival: _tell_all(path, orders[rival], rival, logs[rival]))
            for rival in range(_RIVALS)
        ]
        for child in children:
            with tally.attempt("a rival", may_refuse=False):
                expect(wait_for(child) == 0, "a rival failed")
        accepted = [json.loads(log.read_text()) if log.exists() else [] for log in logs]
        values = {trial.id: trial.value for trial in UnboundedOptimizer.open(path).completed}
    for number in range(count):
        with tally.attempt(f"trial {number}", may_refuse=False):
            winners = [rival for rival in range(_RIVALS) if number in accepted[rival]]
            expect(len(winners) == 1, f"the results of {winners} were accepted")
            expect(values.get(number) == winners[0], f"{winners[0]} won, {values.get(number)} kept")
    return tally


def _tell_all(path: Path, order: list[int], rival: int, log: Path) -> None:
    """Tell all trials, and write down which results were accepted."""
    run, accepted = UnboundedOptimizer.open(path, writable=True), []
    for number in order:
        try:
            run.tell(number, float(rival))
        except InputDataError:  # another was first
            continue
        accepted.append(number)
    log.write_text(json.dumps(accepted))
