"""A program as one page that lives: an arm that moves, words that change, maps to learn from."""
