"""What a word graph errs by: on seeded states, at states that the search watches, at its worst."""
