"""What an adapter adds to a suggestion, for the command ``hosts``."""

import time
from collections.abc import Callable
from typing import Any

from benchmarks.runs.hosts import PROBLEMS, RANDOM, HostProblem, Params

Adapter = tuple[Callable[[], Any], int]  # what suggests, and the seed that it uses
_SCIPY_EVALUATIONS = 16


def measure_overhead(host: str, repeats: int, seed: int) -> tuple[float, float]:
    """CPU seconds of suggestions through a host's adapter, and without it; interleaved."""
    pair = _scipy_pair(seed) if host == "SciPy" else _pair(host, seed)
    seconds = [0.0, 0.0]
    for i in range(repeats + 1):
        for k, call in enumerate(pair):
            began = time.process_time()
            call()
            if i:  # the first is warm-up
                seconds[k] += time.process_time() - began
    return seconds[0], seconds[1]


def _scipy_pair(seed: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A run in SciPy, and the same without."""
    from scipy.optimize import minimize

    from botorch_ubo import UnboundedOptimizer
    from botorch_ubo.integrations.scipy import expanding

    def f(x: Any) -> float:
        return float((x[0] - 7) ** 2 + (x[1] + 6) ** 2)

    def through() -> None:
        options = {"maxfev": _SCIPY_EVALUATIONS, "seed": seed}
        minimize(f, [0.0, 0.0], method=expanding, options=options)

    def alone() -> None:
        optimizer = UnboundedOptimizer({"x0": (-1.0, 1.0), "x1": (-1.0, 1.0)}, seed=seed)
        optimizer.add_data([{"x0": 0.0, "x1": 0.0}], [f([0.0, 0.0])])
        while len(optimizer.trials) < _SCIPY_EVALUATIONS:
            trial = optimizer.ask()
            optimizer.tell(trial, f(trial.X))

    return through, alone


def _pair(host: str, seed: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A suggestion through an adapter, and by ``propose`` with its record of 20 evaluations."""
    from botorch_ubo import Outcome, propose
    from botorch_ubo.integrations import translate

    problem = PROBLEMS["far"]
    space = {
        n: translate.number(n, problem.limits[n], problem.start[n], log=problem.is_log(n))
        for n in sorted(problem.limits)
    }
    points = propose(space, [], 20, num_initial=20, seed=seed)
    values = [problem.loss(point) for point in points]
    suggest, own_seed = ADAPTERS[host](problem, points, values, seed)
    record = [Outcome(point, value) for point, value in zip(points, values, strict=True)]
    return suggest, lambda: propose(space, record, num_initial=RANDOM, seed=own_seed)


def _optuna_adapter(
    problem: HostProblem, points: list[Params], values: list[float], seed: int
) -> Adapter:
    import optuna

    from botorch_ubo.integrations.optuna import UBOSampler

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {
        n: optuna.distributions.FloatDistribution(*pair, log=problem.is_log(n))
        for n, pair in problem.limits.items()
    }
    sampler = UBOSampler(problem.start, n_startup_trials=RANDOM, seed=seed)
    study = optuna.create_study(sampler=sampler)
    for point, value in zip(points, values, strict=True):
        study.add_trial(optuna.trial.create_trial(params=point, distributions=space, value=value))

    def suggest() -> Any:
        trial = study.ask()
        relative = trial.relative_params
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)  # without parameters: left out
        return relative

    return suggest, sampler._seeds.fixed


def _gest_adapter(
    problem: HostProblem, points: list[Params], values: list[float], seed: int
) -> Adapter:
    from gest_api.vocs import VOCS

    from botorch_ubo.integrations.gest import UBOGenerator

    limits = {n: list(pair) for n, pair in problem.limits.items()}
    logs = tuple(filter(problem.is_log, problem.limits))
    vocs = VOCS(variables=limits, objectives={"f": "MINIMIZE"})
    generator = UBOGenerator(vocs, problem.start, log=logs, num_initial=RANDOM, seed=seed)
    generator.ingest([{**p, "f": v} for p, v in zip(points, values, strict=True)])

    def suggest() -> Any:
        suggested = generator.suggest(1)
        generator.finalize()  # forgets what is under way
        return suggested

    return suggest, seed


def _ax_adapter(
    problem: HostProblem, points: list[Params], values: list[float], seed: int
) -> Adapter:
    """The node alone: what Ax itself does around a node is not the adapter's."""
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    from botorch_ubo.integrations.ax import UBONode

    client = Client()
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(
                name=n,
                bounds=pair,
                parameter_type="float",
                scaling="log" if problem.is_log(n) else "linear",
            )
            for n, pair in problem.limits.items()
        ]
    )
    client.configure_optimization(objective="-loss")
    for point, value in zip(points, values, strict=True):
        client.complete_trial(client.attach_trial(point), raw_data={"loss": value})
    experiment = client._experiment
    node = UBONode(problem.start, num_initial=RANDOM, seed=seed)
    data = experiment.lookup_data()

    def suggest() -> Any:
        node.update_generator_state(experiment, data)
        return node.get_next_candidate([])

    return suggest, seed


ADAPTERS: dict[str, Callable[..., Adapter]] = {
    "Optuna": _optuna_adapter,
    "Xopt": _gest_adapter,
    "Ax": _ax_adapter,
}
