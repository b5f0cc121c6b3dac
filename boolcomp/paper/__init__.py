"""The way of 1988: plan, truth tables, covers, and the sums of terms."""
