"""Two-level minimisation: from a truth table or PLA to a verified cover of product terms."""
