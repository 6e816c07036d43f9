r"""Figures of a run; they need matplotlib, ``pip install 'botorch-ubo[plot]'``.

Every function takes a run file, an optimizer or a result, draws into ``ax`` or into a new figure,
and returns the Axes. Those about boxes also take the controller of a loop of one's own with its
points. Time is counted in evaluations and coloured from dark to light; initial points are hollow.

Example:
    >>> plot_boxes("run.db", dims=("lr", "layers")).figure.savefig("boxes.png")
"""

from botorch_ubo.plotting.boxes import plot_boxes
from botorch_ubo.plotting.front import plot_front, plot_hypervolume
from botorch_ubo.plotting.intervals import plot_intervals
from botorch_ubo.plotting.progress import plot_best, plot_regret_bound

__all__ = [
    "plot_best",
    "plot_boxes",
    "plot_front",
    "plot_hypervolume",
    "plot_intervals",
    "plot_regret_bound",
]
