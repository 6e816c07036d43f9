"""A process below a worker that evaluates for it, and can be ended without ending the worker."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import util
from multiprocessing.connection import Connection, wait
from typing import Any

from botorch_ubo.run.arguments import InputType
from botorch_ubo.run.evaluation import (
    EvaluationTimeoutError,
    Objective,
    Outcome,
    WorkerDiedError,
    evaluate,
)

_OWN = threading.local()  # a worker's threads evaluate at the same time


def evaluate_guarded(
    f: Objective, input_type: InputType, X: Sequence[float], timeout: float | None = None
) -> Outcome:
    r"""Call an objective in a process of its own; in a worker process, which stays as it is.

    The process is used again for the next call, so that what an objective keeps in memory between
    calls is kept, until it is ended or dies.

    Args:
        f: The objective.
        input_type: ``"floats"`` or ``"tensor"``.
        X: The point.
        timeout: Seconds after which the evaluation is ended; ``None`` for never.

    Returns:
        The value and the variance of its noise, if the objective told one.

    Raises:
        EvaluationError: If the objective raised, returned something else, or took too long.
        WorkerDiedError: If the process died.
    """
    guard: Guard | None = getattr(_OWN, "guard", None)
    if guard is None or not guard.is_usable():
        guard = _OWN.guard = Guard()
    return guard.call(_dumps((f, input_type, tuple(X))), timeout)


class Guard:
    """A process that evaluates one thing at a time."""

    def __init__(self) -> None:
        """Start the process, and wait until it is ready."""
        # A fork shares memory and knows all modules, but copies locks that other threads hold.
        alone = sys.platform == "linux" and threading.active_count() == 1
        context: Any = multiprocessing.get_context("fork" if alone else "spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.parent = os.getpid()
        with _children_allowed():
            self.process.start()
        theirs.close()
        # Before the worker waits for its children when it ends: one that an objective has made deaf
        # to SIGTERM would keep it waiting for ever.
        self._at_exit = util.Finalize(self, self.process.kill, exitpriority=10)
        self._answer(None)

    def is_usable(self) -> bool:
        """Whether the process is there, and this process's."""
        return self.parent == os.getpid() and self.process.is_alive()

    def call(self, task: bytes, timeout: float | None) -> Outcome:
        """Have something evaluated; see :func:`evaluate_guarded`."""
        try:
            self.connection.send_bytes(task)
            kind, answer = self._answer(timeout)
        except BaseException:
            self.end()
            raise
        if kind == "value":
            return answer
        raise answer

    def end(self) -> None:
        """End the process, whatever it does, and what the objective has started in it."""
        _kill_group(self.process.pid)
        with suppress(OSError, AttributeError):
            self.process.kill()
            self.process.join()
        self._at_exit.cancel()
        self.connection.close()

    def _answer(self, timeout: float | None) -> Any:
        try:
            if not self.connection.poll(timeout):
                raise EvaluationTimeoutError(
                    f"the evaluation took longer than {timeout:g} s and was ended"
                )
            return pickle.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionError) as error:
            self.process.join(5)
            code = self.process.exitcode or 0
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise WorkerDiedError(f"the process of the evaluation ended {how}") from error


def _serve(connection: Connection) -> None:
    """Evaluate what comes in, until nothing does any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker decides
    with suppress(OSError, AttributeError):
        os.setpgid(0, 0)  # programs that the objective starts end with it
    threading.Thread(target=_follow_parent, daemon=True).start()
    connection.send_bytes(pickle.dumps(("ready", None)))
    while True:
        try:
            task = connection.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            reply: tuple[str, Any] = "value", evaluate(*pickle.loads(task))
        except BaseException as error:  # also what ends a run: the worker raises it again
            reply = "error", error
        connection.send_bytes(_dumps_reply(reply))


def _follow_parent() -> None:
    """End with the worker, even if that was killed in the middle of an evaluation."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        with suppress(AttributeError):
            if os.getpgrp() == os.getpid():
                _kill_group(os.getpid())
        os._exit(1)


def _kill_group(leader: int | None) -> None:
    """End all processes of a group; there are none on Windows."""
    with suppress(OSError, AttributeError, TypeError):
        os.killpg(leader, signal.SIGKILL)  # type: ignore[arg-type]


def _dumps(value: Any) -> bytes:
    """Pickle; what only cloudpickle can send, and has brought here, with cloudpickle."""
    try:
        return pickle.dumps(value)
    except Exception:
        try:
            import cloudpickle
        except ImportError:
            cloudpickle = None
        if cloudpickle is None:
            raise
        return cloudpickle.dumps(value)


def _dumps_reply(reply: tuple[str, Any]) -> bytes:
    try:
        return pickle.dumps(reply)
    except Exception as error:
        return pickle.dumps(("error", WorkerDiedError(f"the outcome cannot be sent: {error}")))


@contextmanager
def _children_allowed() -> Iterator[None]:
    """Dask's workers are daemons, which may have no children unless they say otherwise."""
    current = multiprocessing.current_process()
    daemon = current.daemon
    if daemon:
        current.daemon = False
    try:
        yield
    finally:
        if daemon:
            current.daemon = True
