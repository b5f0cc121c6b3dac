"""What is computed, not how finely: polynomials of waves, and the sketch of a graph."""
