"""What is remembered of a run: frozen, plain values that survive JSON and tell a person why."""

from botorch_ubo.records.box_values import Box, Side, as_box
from botorch_ubo.records.certificate import Certificate
from botorch_ubo.records.expansion import ExpansionRecord
from botorch_ubo.records.limits import LimitsRecord
from botorch_ubo.records.step import StepRecord

__all__ = [
    "Box",
    "Certificate",
    "ExpansionRecord",
    "LimitsRecord",
    "Side",
    "StepRecord",
    "as_box",
]
