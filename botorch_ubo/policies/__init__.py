"""What a policy sees (context), and policies: when (triggers), how bold (beta), what (factories).

A strategy says where; there are many of them, in :mod:`botorch_ubo.strategies`.
"""
