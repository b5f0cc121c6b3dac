"""What can be said for sure, or is sought: the worst errors of compiled logic."""
