"""Bounds of the errors of word graphs: of all real inputs, by integers and balls alone."""
