"""What is run and kept: plans, the loop of a run, processes, records, measurements."""
