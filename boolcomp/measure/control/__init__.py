"""Closed loops: an arm, what measures it, what controls it, and what words of few bits do to it."""
