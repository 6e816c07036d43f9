"""What a run was started with: as JSON values in its file, and in the user's own form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

import botorch
import gpytorch
import torch
from botorch.exceptions.errors import BotorchError
from torch import Tensor

from botorch_ubo.acquisition.search import SearchSettings
from botorch_ubo.boxes import HardLimits, parse_hard_limits
from botorch_ubo.controller import ExpandingBounds, Method, get_method
from botorch_ubo.controller.method import BetaName
from botorch_ubo.policies.state import Settings
from botorch_ubo.records import LimitsRecord
from botorch_ubo.records.json_values import read_float, to_json
from botorch_ubo.run.goals import RunGoal
from botorch_ubo.run.storage import CheckpointError, RunFile
from botorch_ubo.run.storage.errors import REMEDY, DamagedFileError
from botorch_ubo.run.storage.events import BOX, Event
from botorch_ubo.spaces import Space

Config = dict[str, Any]
_MALFORMED = (BotorchError, KeyError, TypeError, ValueError, IndexError, AttributeError)


def describe(box: ExpandingBounds, num_initial: int, hard_limits: Tensor, goal: RunGoal) -> Config:
    """The arguments of a run, as JSON values."""
    settings = box.settings
    # Only if there is one, so that files of runs without names are as they were.
    named = {} if settings.space is None else {"space": settings.space.describe()}
    schedule = _own_schedule(box.method)
    own = {} if schedule is None else {"beta": schedule}
    config: Config = to_json(
        {
            "bounds": box.initial_bounds.tolist(),
            "direction": goal.direction,
            **({"constraints": goal.num_constraints} if goal.num_constraints else {}),
            "method": box.method.name,
            "hard_limits": describe_limits(hard_limits),
            "num_initial": num_initial,
            "epsilon": describe_epsilon(settings, box.method),
            "max_growth": settings.max_growth,
            "seed": settings.seed,
            "search": describe_search(settings.search),
            **named,
            **own,
        }
    )
    return config


def arguments_in(file: RunFile) -> dict[str, Any]:
    """The arguments of ``UnboundedOptimizer`` that a run file was started with."""
    events = file.load()
    if not events:
        raise CheckpointError(f"Expected a run in {file.path}; there is none.")
    config = _config(events)
    try:
        epsilon = config["epsilon"]
        limits: HardLimits = _limits_now(events) or _limits_of(config)
        bounds: Tensor | Space = torch.tensor(config["bounds"], dtype=torch.double)
        if "space" in config:
            bounds, limits = Space.from_description(config["space"]), None
        return {
            **{name: config[name] for name in ("direction", "num_initial", "seed")},
            "method": _method_of(config, file.path),
            "bounds": bounds,
            "constraints": config.get("constraints", 0),
            "hard_limits": limits,
            "epsilon": tuple(epsilon) if isinstance(epsilon, list) else epsilon,
            "max_growth": read_float(config["max_growth"]),
            "search": SearchSettings(**config["search"]),
        }
    except _MALFORMED as error:
        raise DamagedFileError(
            f"Expected {file.path} to begin with the arguments of a run; got "
            f"{type(error).__name__}: {error}. {REMEDY}"
        ) from error


def first_limits(events: Sequence[Event], given: Tensor) -> HardLimits:
    """The limits that a run began with: those that its file tells, or the given ones."""
    if events:
        with suppress(*_MALFORMED):  # which `check_same` says better
            limits = parse_hard_limits(_limits_of(_config(events)), given.shape[-1])
            return limits if limits.shape == given.shape else given
    return given


def check_same(events: Sequence[Event], given: Config, path: Path) -> None:
    r"""Refuse to resume a run with other arguments, and say which differ and how to go on.

    Args:
        events: The run.
        given: The arguments that it is to be resumed with, as JSON values.
        path: Its file.

    Raises:
        CheckpointError: If they are not those that it was started with, but for hard limits that
            have been changed since.
    """
    known, changed = _config(events), _limits_now(events)
    if changed is not None:
        known = {**known, "hard_limits": list(map(list, zip(*changed, strict=True)))}
    differing = [key for key in {**known, **given} if known.get(key) != given.get(key)]
    if not differing and set(known) == set(given):
        return
    told = "; ".join(
        f"{key} was {in_users_form(key, known.get(key))}, is {in_users_form(key, given.get(key))}"
        for key in differing
    )
    opened = f"UnboundedOptimizer.open({str(path)!r}, writable=True)"
    remedy = f"Pass the same ones, or another path for a new run; `{opened}` reads them there."
    if "hard_limits" in differing:
        limits = in_users_form("hard_limits", given["hard_limits"])
        remedy += (
            f" To go on with other hard limits, call `{opened}.set_hard_limits({limits})` once: "
            "it records the change, and from then on these are the ones to pass."
        )
        if changed is not None:
            remedy += " They have been changed in the course of the run already."
    raise CheckpointError(
        f"Expected the run in {path} to be resumed with the same arguments; "
        f"{told or 'its configuration has other fields'}. {remedy}"
    )


def in_users_form(key: str, value: Any) -> str:
    """An argument as a user would write it."""
    with suppress(TypeError, ValueError, AttributeError):  # of a file that was tampered with
        return _in_users_form(key, value)
    return repr(value)


def _in_users_form(key: str, value: Any) -> str:
    if key == "bounds":
        return repr(list(zip(*value, strict=True)))
    if key == "hard_limits":
        pairs = dict(enumerate(zip(*value, strict=True)))
        return repr({dim: pair for dim, pair in pairs.items() if pair != (None, None)} or None)
    if key == "epsilon" and isinstance(value, list):
        return repr(tuple(value))
    if key == "search":
        return f"SearchSettings({', '.join(f'{name}={it!r}' for name, it in value.items())})"
    return repr(value)


def _own_schedule(method: Method) -> str | None:
    """The schedule of beta, if it is not that of the method that is known by the name."""
    with suppress(BotorchError):  # of a name that is not known, which is all there is to tell
        if get_method(method.name).schedule != method.schedule:
            return repr(method.schedule)
    return None


def _method_of(config: Config, path: Path) -> str | Method:
    """The method of a run, with its own schedule of beta if that is one of the package's."""
    if "beta" not in config:
        return str(config["method"])
    known = get_method(config["method"])
    for name in get_args(BetaName):
        method = replace(known, beta=name)
        if repr(method.schedule) == config["beta"]:
            return method
    raise CheckpointError(
        f"Expected a method that can be told by its name; {path} has {known.name!r} with "
        f"beta={config['beta']}. Register such a method under a name of its own with "
        "`register_method`, or pass it as `method=` together with the other arguments."
    )


def describe_search(search: SearchSettings) -> dict[str, Any]:
    """What of the search is not as by default."""
    default = asdict(SearchSettings())
    return {key: value for key, value in asdict(search).items() if value != default[key]}


def describe_epsilon(settings: Settings, method: Method) -> float | list[float | str]:
    """The accuracy, with its unit if that is not the method's."""
    if settings.epsilon_unit == method.epsilon_unit:
        return settings.epsilon
    return [settings.epsilon, settings.epsilon_unit]


def describe_limits(limits: Tensor) -> list[list[float | None]]:
    """Limits as JSON values, with ``None`` for a free side."""
    return [[x if math.isfinite(x) else None for x in row] for row in limits.tolist()]


def versions() -> dict[str, str]:
    """Versions on which proposals depend, to the last digit."""
    modules = (torch, gpytorch, botorch)
    return {module.__name__: str(module.__version__) for module in modules}


def _config(events: Sequence[Event]) -> Config:
    body = events[0].body
    return dict(body) if isinstance(body, dict) else {}


def _limits_of(config: Config) -> list[tuple[float | None, float | None]]:
    """The limits that a run began with, in pairs."""
    return list(zip(*config["hard_limits"], strict=True))


def _limits_now(events: Sequence[Event]) -> list[tuple[float | None, float | None]] | None:
    """The limits in force, in pairs, if they have been changed in the course of the run."""
    heads = (event.body for event in reversed(events) if event.kind == BOX)
    with suppress(*_MALFORMED, StopIteration):  # a malformed state is refused when it is loaded
        limits = LimitsRecord.from_dict(next(heads)["limits"][-1])
        return _limits_of({"hard_limits": describe_limits(limits.tensor)})
    return None
