"""Figures of a run; they need matplotlib, ``pip install 'botorch-ubo[plot]'``."""

from botorch_ubo.plotting.boxes import plot_best, plot_boxes, plot_intervals, plot_regret_bound
from botorch_ubo.plotting.front import plot_front, plot_hypervolume

__all__ = [
    "plot_best",
    "plot_boxes",
    "plot_front",
    "plot_hypervolume",
    "plot_intervals",
    "plot_regret_bound",
]
