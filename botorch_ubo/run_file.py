"""The file that a run is kept in: what it was started with, its trials, the state of its box."""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch
from botorch.exceptions.errors import BotorchError, InputDataError
from botorch.exceptions.warnings import BotorchWarning

from botorch_ubo.arguments import versions
from botorch_ubo.checkpoint import (
    CheckpointError,
    check_path,
    encode,
    read_checkpoint,
    remove_leftovers,
    write_checkpoint,
)
from botorch_ubo.controller import ExpandingBounds
from botorch_ubo.json_values import to_json
from botorch_ubo.ledger import Ledger


class RunFile:
    """A checkpoint that belongs to one run in one process."""

    def __init__(self, path: str | os.PathLike[str], config: dict[str, Any]) -> None:
        r"""A checkpoint that belongs to one run in one process.

        Args:
            path: The file; its directory must exist.
            config: What the run is started with.
        """
        self.path = check_path(path)
        self.config = to_json(config)
        self._digests: tuple[str, ...] = ()

    def exists(self) -> bool:
        """Whether there is a run to resume."""
        return self.path.exists()

    def save(self, ledger: Ledger, box: ExpandingBounds) -> None:
        """Write the run; after a crash the file is this one or the one before."""
        text, digest = encode(
            {
                "config": self.config,
                "versions": versions(),
                "trials": ledger.to_list(),
                "box": box.state_dict(),
            }
        )
        # Both, lest an interrupt between writing and returning make the file a stranger's.
        self._digests = (*self._digests[-1:], digest)
        write_checkpoint(self.path, text, self._digests)

    def load(self, box: ExpandingBounds) -> Ledger:
        r"""Read the run.

        Args:
            box: The controller, whose state is replaced.

        Returns:
            The trials.

        Raises:
            CheckpointError: If the file is not a run that was started with the same arguments.
        """
        run, digest = read_checkpoint(self.path)
        self._check_config(run.get("config"))
        try:
            ledger = Ledger.from_list(run["trials"], box.settings.hard_limits)
            first = box.initial_bounds
            box.load_state_dict(run["box"])
            if not torch.equal(box.initial_bounds, first):
                raise InputDataError(f"Expected the first box {first.tolist()} in the state.")
        except (BotorchError, KeyError) as error:
            raise CheckpointError(
                f"Expected {self.path} to hold a complete run; got {type(error).__name__}: {error} "
                "It was edited or damaged: restore a copy, or start anew with another path."
            ) from error
        if run.get("versions") != versions():
            warnings.warn(
                f"The run in {self.path} was last written with {run.get('versions')}; now it is "
                f"{versions()}. Proposals may differ from what they would have been.",
                BotorchWarning,
                stacklevel=4,
            )
        remove_leftovers(self.path)
        self._digests = (digest,)
        return ledger

    def _check_config(self, config: Any) -> None:
        if config == self.config:
            return
        known = config if isinstance(config, dict) else {}
        differing = [
            f"{key} was {known.get(key)}, is {value}"
            for key, value in self.config.items()
            if known.get(key) != value
        ]
        raise CheckpointError(
            f"Expected the run in {self.path} to have been started with the same arguments; "
            f"{'; '.join(differing) or 'its configuration has other fields'}. Pass the same ones, "
            "or another path for a new run."
        )
