"""The parallel-dynamics papers: their methods, schedules, machines and real runs."""
