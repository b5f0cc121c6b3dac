"""By how much words differ from what they stand for: node by node, cell by cell, box by box."""
