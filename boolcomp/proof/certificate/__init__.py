"""Certificates: what was found and proved of a program, for a checker that believes none of it."""
