"""One program over several processes: by samples, by product terms, or as a pipeline."""
