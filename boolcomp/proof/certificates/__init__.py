"""Certificates: what is claimed of a program, written for a checker of its own."""
