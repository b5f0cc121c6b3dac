"""Programs as files for other tools: one module a target, all over the same fold.

A target's function takes `(program, load, options)` and returns the texts (or bytes) of its files
by name. `load` is one of the program's payloads, or None: all of them.
"""
