"""What no error of a sum of tables exceeds, proved: the logic of paper mode, whoever made it."""
