"""What compiled programs err by: the worst error, sought by climbing."""
