"""What all tests share: Hypothesis without deadlines (the machine may be busy), repeatable."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("boolcomp", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("boolcomp")
