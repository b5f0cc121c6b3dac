"""Very many states in files, evaluated chunk by chunk: workers read and write, runs are resumed."""
