"""Functions as sums of waves times powers, and those of a robot, by Lagrange's equations."""
