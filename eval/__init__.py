"""The experiments, their statistics and reports."""
