from botorch_ubo import ExpandingBounds
from botorch_ubo.testing import StrategyConformance


class TestConformance(StrategyConformance):
    def make(self, bounds, **kwargs):
        return ExpandingBounds.corrected(bounds, **kwargs)
