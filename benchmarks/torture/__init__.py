"""What a run must survive, as attacks that count: ``attacks.py`` has all by name."""
