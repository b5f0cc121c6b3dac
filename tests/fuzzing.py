"""What all fuzzed cases share: damage by seed, and what a refusal must look like."""

import random

LONGEST_SENTENCE = 1400


class BrokenError(Exception):
    """What was accepted is not what it must be."""


def seeded(seed: int) -> random.Random:
    """Return a generator: Python's own, because numpy's is slow where few numbers are drawn."""
    return random.Random(seed)  # noqa: S311 (no secrets here)


def sentence(error: BaseException) -> None:
    """Check that a message is one for people: not empty, and no longer than a few lines."""
    if not 0 < len(str(error)) <= LONGEST_SENTENCE:
        raise BrokenError(f"a message of {len(str(error))} characters") from error


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes of which some are flipped, cut out, doubled, swapped or made up."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place, kind = rng.randrange(len(found) + 1), rng.randrange(6)
        length = rng.choice((1, 2, 4, 30, 300))
        if kind == 0 and place < len(found):
            found[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del found[place : place + length]
        elif kind == 2:
            found[place:place] = found[max(0, place - length) : place]
        elif kind == 3:
            found[place : place + length] = rng.randbytes(min(length, 8))
        elif kind == 4:
            other = rng.randrange(len(found) + 1)
            found[place : place + length] = found[other : other + length]
        else:
            del found[place:]
    return bytes(found)
