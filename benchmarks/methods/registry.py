"""Every method that a benchmark compares, by name.

A further contender is a module of this folder, and a line in ``GROUPS`` here. A variant that is
only tried is registered by a plugin: a Python file that calls :func:`botorch_ubo.register_method`,
or :func:`register` for what is no method of the package: another model, or initial points elsewhere
(:class:`~benchmarks.methods.contender.Placed`).
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from benchmarks.methods.ablation import ABLATIONS
from benchmarks.methods.contender import Contender, Make, Placed
from benchmarks.methods.expanding import REGISTRY as OF_THE_PACKAGE
from benchmarks.methods.expanding import expanding
from benchmarks.methods.log_ei import LOG_EI, wide_box
from benchmarks.methods.mixed import MixedOptunaContender, optuna_tpe
from benchmarks.methods.outside import CMAContender, OptunaContender
from benchmarks.methods.presets import AS_PUBLISHED, make_as_published
from benchmarks.methods.selected import SELECTIONS
from benchmarks.methods.told import SAME, spread_start, true_domain
from benchmarks.problems.problem import Problem, Start
from benchmarks.problems.reference import AUTHORS
from benchmarks.problems.registry import unknown_name
from botorch_ubo import available_methods
from botorch_ubo.methods import DEFAULT_METHOD

# As published is as published: with the authors' model, not the package's default one.
REGISTRY: dict[str, Make] = {**OF_THE_PACKAGE, AS_PUBLISHED: make_as_published}


def _optuna_told(problem: Problem, start: Start, seed: int) -> Contender:
    if problem.domain is not None:
        return MixedOptunaContender(problem, seed, "GPSampler")
    return OptunaContender(true_domain(problem), seed)


OUTSIDE: dict[str, Make] = {
    **LOG_EI,
    "CMA-ES": CMAContender,
    "Optuna-GP-told": _optuna_told,
    "Optuna-GP-told-spread": Placed(_optuna_told, spread_start),
    "Optuna-TPE-told-spread": Placed(optuna_tpe, spread_start),
    "Optuna-GP-wide5": lambda p, start, seed: OptunaContender(wide_box(p, start, 5), seed),
}
GROUPS: dict[str, dict[str, Make]] = {
    "all": {**REGISTRY, **SAME, **OUTSIDE},
    "registry": REGISTRY,
    "same": SAME,
    "outside": OUTSIDE,
    "ablation": ABLATIONS,
    "selection": SELECTIONS,
    "plugin": {},
}
# Whoever is to be the default must bear comparison with these, whatever the suite.
_RIVALS = ("HuBO-EI", "EI-UBO", "TuRBO-1", "GPUCB-UBO")
_STRANGERS = ("LogEI-oracle", "CMA-ES", "Optuna-GP-told")
GROUPS["contest"] = {
    **{name: REGISTRY[name] for name in (DEFAULT_METHOD, *_RIVALS)},
    **SAME,
    **{name: OUTSIDE[name] for name in _STRANGERS},
}


def register(name: str, make: Make) -> None:
    """Make a contender known; for plugins."""
    GROUPS["plugin"][name] = make


def load_plugins(paths: Iterable[Path]) -> None:
    """Run Python files, each once; the methods that they register are contenders from then on."""
    for path in paths:
        _load_plugin(path.resolve())


@cache
def _load_plugin(path: Path) -> None:
    name = f"benchmarks_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"Expected a Python file of methods; got {path}.")
    sys.modules[name] = module = module_from_spec(spec)  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    for method in available_methods():
        if method.name not in REGISTRY:
            register(method.name, expanding(method))


def make_contender(name: str, problem: Problem, start: Start, seed: int) -> Contender:
    """A method, ready to begin on a problem."""
    return _known()[name](problem, start, seed)


def place_start(name: str, problem: Problem, start: Start, seed: int) -> Start:
    """The start of a method: the one that all share, unless it puts its points elsewhere."""
    make = _known().get(name)
    return make.place(problem, start, seed) if isinstance(make, Placed) else start


def resolve_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Names and groups to names, each once; the authors' runs are a method too."""
    known = {name.casefold(): name for name in (*_known(), AUTHORS)}
    found: list[str] = []
    for name in names:
        key = name.casefold()
        if key not in GROUPS and key not in known:
            raise unknown_name("method", name, known.values())
        found += GROUPS[key] if key in GROUPS else [known[key]]
    return tuple(dict.fromkeys(found))


def _known() -> dict[str, Make]:
    return {name: make for group in GROUPS.values() for name, make in group.items()}
