"""The papers' parallel methods: their physics over any algebra, their counts, their task graphs."""
