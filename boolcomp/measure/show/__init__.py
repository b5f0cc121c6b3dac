"""A program as one page that lives: an arm that moves, words that change, maps to learn from."""

from boolcomp.measure.show.page import program_page, table_page

__all__ = ["program_page", "table_page"]
