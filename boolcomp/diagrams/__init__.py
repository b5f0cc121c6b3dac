"""Decision diagrams of tables of words, and the processor that walks them: a bit a step."""
