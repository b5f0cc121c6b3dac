"""Networks of nodes with at most three inputs: made, simulated, compared, made smaller."""
