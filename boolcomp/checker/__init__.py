"""The checker of certificates: it shares file formats with the compiler, and nothing else.

It trusts Python, numpy, numba and python-flint, the readers of word graphs and networks
(`words.graphtext`, `logic.networktext`), and itself. What a certificate says it never believes.
"""
