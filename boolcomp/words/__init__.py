"""Word graphs: what a compact program computes, as values, as text, and simulated on words."""
