"""Commands for a shell: ``python -m botorch_ubo COMMAND``."""
