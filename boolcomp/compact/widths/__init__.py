"""How wide every word is: a noise model, and the search for the smallest graph."""
