"""Much work: batches of states, sweeps of compilations, programs over several processes."""
