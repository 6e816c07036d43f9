from botorch_ubo.integrations.optuna import UBOSampler

__all__ = ["UBOSampler"]
