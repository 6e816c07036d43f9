"""What is said of it: measures, statistics, tables, figures."""
