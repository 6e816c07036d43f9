"""Colours of every figure: Okabe and Ito's, which are apart to every eye, and viridis for time."""

from __future__ import annotations

BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"

LINE = BLUE
"""What a figure is about: boxes, the best so far, posterior means."""
BEST = VERMILLION
"""The best point, a front; apart from viridis and grey."""
FAILED = PURPLE
TIME = "viridis"
"""Evaluations from early (dark) to late (light)."""
