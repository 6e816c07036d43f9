"""Arguments of ``ExpandingBounds`` in 0.1.0: they still work, and warn with the new form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.compat.deprecated import warn_moved
from botorch_ubo.controller.method import DEFAULT_METHOD, Method, get_method
from botorch_ubo.policies.beta import ConstantBeta

P = ParamSpec("P")

OF_THE_METHOD = (
    "strategy",
    "trigger",
    "beta",
    "acquisition",
    "batch_acquisition",
    "epsilon_unit",
)
OF_THE_SEARCH = ("num_restarts", "raw_samples", "options")


def taking_old_arguments(init: Callable[P, None]) -> Callable[P, None]:
    r"""Let a constructor take the arguments that are parts of a method or of a search by now.

    Args:
        init: The constructor, with ``method`` and ``search``.

    Returns:
        The constructor; old arguments take the place of the method's and of the search's parts.
    """

    @wraps(init)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        parts = {name: kwargs.pop(name) for name in OF_THE_METHOD if name in kwargs}
        if parts:
            warn_moved(
                f"ExpandingBounds({_named(parts)})",
                f"ExpandingBounds(method=replace(get_method(...), {_named(parts)}))",
            )
            kwargs["method"] = _with_parts(kwargs.pop("method", DEFAULT_METHOD), parts)
        search = {name: kwargs.pop(name) for name in OF_THE_SEARCH if name in kwargs}
        if search:
            warn_moved(
                f"ExpandingBounds({_named(search)})",
                f"ExpandingBounds(search=SearchSettings({_named(search)}))",
            )
            given: Any = kwargs.pop("search", None) or SearchSettings()
            kwargs["search"] = replace(given, **search)
        init(*args, **kwargs)

    return call


def _with_parts(method: Any, parts: dict[str, Any]) -> Method:
    given = {name: part for name, part in parts.items() if part is not None}
    if isinstance(given.get("beta"), int | float):
        given["beta"] = ConstantBeta(given["beta"])
    if "acquisition" in given:  # which says nothing of batches
        given.setdefault("batch_acquisition", None)
    return replace(get_method(method), **given)


def _named(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}=..." for name in arguments)
