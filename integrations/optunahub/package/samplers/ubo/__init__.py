from .sampler import UBOSampler

__all__ = ["UBOSampler"]
