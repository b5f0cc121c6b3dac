"""What is to be computed: robots, their dynamics, files of states."""
