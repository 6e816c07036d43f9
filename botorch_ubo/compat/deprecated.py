"""Names of 0.1.0 that have moved: they still work, and warn with the new name."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOVED_MODULES = {
    "botorch_ubo.beta": "botorch_ubo.policies.beta",
    "botorch_ubo.candidates": "botorch_ubo.acquisition.search",
    "botorch_ubo.checkpoint": "botorch_ubo.run.storage",
    "botorch_ubo.context": "botorch_ubo.policies.context",
    "botorch_ubo.demo": "botorch_ubo.cli.demo",
    "botorch_ubo.evaluation": "botorch_ubo.run.evaluation",
    "botorch_ubo.factories": "botorch_ubo.policies.factories",
    "botorch_ubo.kernel_reach": "botorch_ubo.posterior.kernel_reach",
    "botorch_ubo.optimizer": "botorch_ubo.run",
    "botorch_ubo.quick_fit": "botorch_ubo.models.quick.fit",
    "botorch_ubo.quick_gp": "botorch_ubo.models.quick.gp",
    "botorch_ubo.quick_search": "botorch_ubo.models.quick.search",
    "botorch_ubo.acquisition.quick_improvement": "botorch_ubo.models.quick.log_ei",
    "botorch_ubo.radius": "botorch_ubo.posterior.radius",
    "botorch_ubo.result": "botorch_ubo.run.result",
    "botorch_ubo.strategies.base": "botorch_ubo.policies.strategy",
    "botorch_ubo.trials": "botorch_ubo.run.trials",
    "botorch_ubo.triggers": "botorch_ubo.policies.triggers",
}
"""Modules that 0.1.0 documented, and where their contents are now."""


class _MovedModule(MetaPathFinder, Loader):
    """Finds a module under its old name and fills it with the names of the new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED_MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        new = MOVED_MODULES[module.__name__]
        warn_moved(module.__name__, new)
        home = importlib.import_module(new)
        vars(module).update({key: value for key, value in vars(home).items() if key[:2] != "__"})
        vars(module)["__getattr__"] = partial(getattr, home)  # names that have changed as well


def install() -> None:
    """Let the import system know the old names of modules."""
    if not any(isinstance(finder, _MovedModule) for finder in sys.meta_path):
        sys.meta_path.append(_MovedModule())


def moved_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    r"""A ``__getattr__`` for a module some of whose names have changed.

    Args:
        module: The module's ``__name__``.
        names: New names by old ones; a name with dots is one of another module.

    Returns:
        A function that looks up an old name, with a warning.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        home = home or module
        warn_moved(f"{module}.{name}", f"{home}.{new}")
        return getattr(importlib.import_module(home), new)

    return get


def renamed_argument(old: str, new: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    r"""A decorator of a function whose first argument has another name now.

    Args:
        old: The name of 0.1.0.
        new: The name of today.

    Returns:
        The decorator; the old name works as a keyword, and warns.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if old in kwargs and not args and new not in kwargs:
                warn_moved(f"{function.__name__}({old}=...)", f"{function.__name__}({new}=...)")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def warn_moved(old: str, new: str) -> None:
    """Warn the caller's caller that an old name has become a new one."""
    warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=3)
