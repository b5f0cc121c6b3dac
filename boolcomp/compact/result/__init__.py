"""From a demand to a finished network with its errors, and the files that keep it."""
