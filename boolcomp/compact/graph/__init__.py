"""Word graphs: their tables and heaps, bit-exact simulation, and their logic."""
