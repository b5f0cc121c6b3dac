"""Task graphs of parallel computations, machines, schedules on them, and their execution."""
