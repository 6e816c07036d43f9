"""What is optimised: functions, where a run of them starts, and which of them go together."""
