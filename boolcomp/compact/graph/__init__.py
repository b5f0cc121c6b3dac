"""From a sketch with widths to a word graph: its heaps and tables, their logic, names of words."""
