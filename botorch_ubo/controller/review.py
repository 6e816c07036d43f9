"""What the user's ``on_expand`` makes of a planned move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.boxes import check_bounds, clip
from botorch_ubo.records import ExpansionRecord, as_box

OnExpand = Callable[[ExpansionRecord], Any]
"""Called with a planned move; see :func:`apply_answer` for what it may answer."""


def check_on_expand(on_expand: Any) -> OnExpand | None:
    """Refuse what cannot be called at the start, not at the first move."""
    if on_expand is not None and not callable(on_expand):
        raise InputDataError(
            f"Expected `on_expand` to be a function of a record; got {on_expand!r}."
        )
    return on_expand


def apply_answer(record: ExpansionRecord, answer: Any) -> ExpansionRecord:
    r"""Apply an answer of ``on_expand`` to a planned move.

    Args:
        record: The planned move.
        answer: ``True`` or ``None`` accepts it, ``False`` refuses it. A box, ``2 x d`` as a tensor
            or as ``(lower, upper)``, shrinks it: what is beyond the planned box is cut off.

    Returns:
        The record of the move as it is to be made.
    """
    if isinstance(answer, np.bool_):
        answer = bool(answer)
    if answer is None or answer is True:
        return record
    if answer is False:
        return replace(record, new_bounds=record.old_bounds, decision="refused")
    planned = torch.tensor(record.new_bounds, dtype=torch.double)
    try:
        box = torch.as_tensor(answer, dtype=torch.double, device="cpu")
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputDataError(
            f"Expected True, False, None or a 2 x d box from `on_expand`; got {answer!r}."
        ) from error
    box = check_bounds(box, "bounds returned by `on_expand`")
    if box.shape != planned.shape or not (clip(box, planned).diff(dim=0) > 0).all():
        raise InputDataError(
            f"Expected a {tuple(planned.shape)} box from `on_expand` that overlaps the planned one "
            f"{planned.tolist()}; got {box.tolist()}. Return False to refuse the move."
        )
    return replace(record, new_bounds=as_box(clip(box, planned)), decision="shrunk")
