"""Files of states in chunks, and journals of their runs, as a stranger may have damaged them."""

import shutil
from pathlib import Path

import numpy as np
from batchfiles import program, read, states, torques, write
from fuzzing import BrokenError, damaged, seeded, sentence

import boolcomp as bc
from boolcomp.measure import trajectory_of

FORMS = ("s.npy", "s.parquet", "s.zarr", "npys")
TARGETS = ("t.npy", "t.parquet", "t.zarr", "t")
ROWS = 300
WAYS = ("point:time=", "sine:frequency=", "sine:amplitude=", "hold:at=", "circle:period=",
        "circle:radius=", "point:to=")  # fmt: skip
NUMBERS = ("0", "1", "-1", ".5", "1e-300", "5e-324", "1e300", "1e308", "nan", "inf", "pi", "",
           "1,2", "9" * 500, "x" * 5000)  # fmt: skip


class EndedError(Exception):
    """Stands for whatever ends a run."""


def _end(done: int) -> None:
    if done:
        raise EndedError


def batch_case(seed: int, folder: Path) -> bool:
    """Damage a file of states, or of a run that was ended: a sentence, or results that are right.

    Values may be damaged, too: those of .npy files are compared with the file's own.
    """
    rng = seeded(seed)
    place = folder / f"batch{seed}"
    place.mkdir()
    try:
        return _batch(rng.choice(FORMS), rng.choice(TARGETS), seed, place)
    finally:
        shutil.rmtree(place)


def _batch(form: str, target: str, seed: int, place: Path) -> bool:
    rng = seeded(seed + 1)
    source, result = write(place / form, states(ROWS, seed)), place / target
    of_run = rng.random() < 0.4
    if of_run:
        try:
            bc.evaluate_files(program(), source, result, chunk=50, engine="numpy", advance=_end)
        except EndedError:
            victim = place / f"{target}.unfinished" / "journal"
        else:
            raise BrokenError("nothing was done in chunks")
    else:
        files = [source] if source.is_file() else [x for x in source.rglob("*") if x.is_file()]
        victim = rng.choice(sorted(files))
    victim.write_bytes(damaged(rng, victim.read_bytes()))
    try:
        found = bc.evaluate_files(program(), source, result, chunk=50, engine="numpy")
    except bc.BoolcompError as error:
        sentence(error)
        if result.exists():
            raise BrokenError("something was written under the result's name") from error
        return False
    if of_run or form == "s.npy":
        table = states(ROWS, seed) if of_run else np.load(source)
        if found.samples != len(table) or not np.array_equal(read(result), torques(table)):
            raise BrokenError("the results are not those of the states")
    return True


def way_case(seed: int, folder: Path) -> bool:
    """Read a trajectory: what is accepted is finite."""
    rng = seeded(seed)
    text = rng.choice(WAYS) + rng.choice(NUMBERS)
    if rng.random() < 0.5:
        path = folder / "way.csv"
        rows = [
            f"{k / 4 if rng.random() < 0.9 else rng.choice(NUMBERS)},{k},{-k}" for k in range(5)
        ]
        data = "\n".join(["t,q1,q2", *rows, ""]).encode()
        path.write_bytes(damaged(rng, data) if rng.random() < 0.5 else data)
        text = str(path)
    try:
        found = trajectory_of(bc.load_robot("machado-2r"), text, 1.0, 100.0)
    except bc.BoolcompError as error:
        sentence(error)
        return False
    if not all(np.isfinite(one).all() for one in (found.q, found.qd, found.qdd)):
        raise BrokenError("a trajectory that is not finite")
    return True
