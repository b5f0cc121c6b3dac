"""Errors that are promised: the search for widths that a bound steers."""
