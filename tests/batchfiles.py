"""Files of states of the paper's arm at 4 bits, in every form that is evaluated in chunks."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_programs import stages

from boolcomp.program import Program

NAMES = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
RESULTS = ("tau1", "tau2")


def program() -> Program:
    """Return the program that all of them are for."""
    return stages(4)[2]


def states(rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Return random states, some of them beyond their words."""
    low = np.array([-np.pi, -np.pi, -1.01, -1.01, -1.01, -1.01])
    found: NDArray[np.float64] = np.random.default_rng(seed).uniform(low, -low, (rows, 6))
    return found


def torques(table: NDArray[Any]) -> NDArray[Any]:
    """Return what the program makes of them, all at once."""
    found: NDArray[Any] = program().evaluate(*np.split(table, 3, axis=1), engine="numpy").values
    return found


def write(path: Path, table: NDArray[Any]) -> Path:
    """Write states in the form that the name says: .npy, .parquet, .zarr, npys, parquets."""
    if path.suffix == ".npy":
        np.save(path, table)
    elif path.suffix == ".parquet":
        write_parquet(path, dict(zip(NAMES, table.T, strict=True)))
    elif path.suffix == ".zarr":
        import zarr

        zarr.create_array(str(path), data=table, chunks=(700, 6))
    else:
        path.mkdir()
        ending = ".npy" if path.name == "npys" else ".parquet"
        cuts = [0, len(table) // 7, len(table) // 7, len(table) // 2, len(table)]
        for k in range(4):
            write(path / f"part{9 + k}{ending}", table[cuts[k] : cuts[k + 1]])
    return path


def write_parquet(path: Path, columns: dict[str, Any], units: dict[str, str] | None = None) -> None:
    """Write columns to a Parquet file, in groups of 900 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(columns)
    for name, unit in (units or {}).items():
        place = table.schema.get_field_index(name)
        field = table.schema.field(name).with_metadata({"unit": unit})
        table = table.set_column(place, field, table.column(name))
    pq.write_table(table, path, row_group_size=900)


def read(path: Path) -> NDArray[Any]:
    """Return the results in a file, an array or a folder, by the packages' own readers."""
    if path.is_dir() and (path / "zarr.json").exists():
        import zarr

        array: Any = zarr.open_array(str(path), mode="r")
        found: NDArray[Any] = array[:]
        return found
    if path.is_dir():
        files = sorted(path.iterdir(), key=lambda one: (len(one.name), one.name))
        return np.concatenate([read(one) for one in files])
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        return np.stack([table[name].to_numpy() for name in RESULTS], axis=1)
    loaded: NDArray[Any] = np.load(path)
    return loaded


def bytes_of(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of all files of a folder."""
    if path.is_file():
        return {"": path.read_bytes()}
    files = (one for one in path.rglob("*") if one.is_file())
    return {str(one.relative_to(path)): one.read_bytes() for one in files}
