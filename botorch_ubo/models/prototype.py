"""A module that is built once and copied: what a constructor does is the same every time.

gpytorch builds, checks and registers a dozen modules for a GP, and that takes as long as a fit to
tens of data. A copy by pickle is as deep as ``copy.deepcopy`` makes it, bound methods included, at
a tenth of the cost, if tensors are kept beside the stream.
"""

from __future__ import annotations

import io
import pickle
from types import FunctionType
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.nn import Module, Parameter

M = TypeVar("M", bound=Module)


class Prototype(Generic[M]):
    """What copies of a module are made of. Nothing that a copy can change is shared."""

    def __init__(self, module: M) -> None:
        r"""What copies of a module are made of.

        Args:
            module: The module, which is not to be changed afterwards. Functions that it holds are
                shared with its copies.
        """
        stream = io.BytesIO()
        writer = _Writer(stream)
        writer.dump(module)
        self._stream, self._kept = stream.getvalue(), writer.kept

    def copy(self) -> M:
        """A module with tensors, parameters, buffers and parts of its own."""
        module: M = _Reader(self._stream, _twins(self._kept)).load()
        return module


class _Writer(pickle.Pickler):
    """Keeps tensors, and functions, which may have no name to be found by."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self.kept: list[Any] = []
        self._known: dict[int, int] = {}

    def persistent_id(self, part: Any) -> int | None:
        if not isinstance(part, Tensor | FunctionType):
            return None
        index = self._known.setdefault(id(part), len(self.kept))
        if index == len(self.kept):
            self.kept.append(part)
        return index


class _Reader(pickle.Unpickler):
    """Puts what was kept in its places."""

    def __init__(self, stream: bytes, parts: list[Any]) -> None:
        super().__init__(io.BytesIO(stream))
        self._parts = parts

    def persistent_load(self, index: int) -> Any:
        return self._parts[index]


def _twins(kept: list[Any]) -> list[Any]:
    """New tensors for all that were kept; functions are the same."""
    with torch.no_grad():
        twins = [part.clone() if isinstance(part, Tensor) else part for part in kept]
    return [
        Parameter(twin, part.requires_grad) if type(part) is Parameter else twin
        for part, twin in zip(kept, twins, strict=True)
    ]
