"""What a user types: a module has HELP, ``add_arguments(parser)`` and ``run(arguments) -> int``."""
