"""What other versions ask for: names of BoTorch that are private, names of ours that have moved."""
