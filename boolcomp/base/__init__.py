"""What every room stands on: errors, files, stores, processes, workers, pages."""
