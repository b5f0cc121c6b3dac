"""What an installation weighs: megabytes of every package that pyproject.toml asks for.

    python benchmarks/weights.py        sizes, and their sum for docs/reference/installation.md

A package counts with what only it asks for; what two ask for counts with the first.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = ("plots", "abc", "espresso", "exact")
FIRST = "numpy"  # which others ask for, too


def weight(name: str, counted: set[str]) -> float:
    """Return the megabytes of a package and of what it needs, but for what is counted."""
    if name in counted:
        return 0.0
    counted.add(name)
    found = distribution(name)
    kept = (file for file in found.files or () if file.suffix != ".pyc")
    total = sum(
        path.stat().st_size for file in kept if (path := Path(str(file.locate()))).is_file()
    )
    needed = [Requirement(text) for text in found.requires or ()]
    wanted = [r for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return total / 1e6 + sum(weight(r.name, counted) for r in wanted)


def rows() -> list[tuple[str, float | None, str]]:
    """Return (package, megabytes or None where it is not installed, extra)."""
    asked = [(Requirement(text).name, "") for text in PROJECT["dependencies"]]
    for extra in EXTRAS:
        asked += [
            (Requirement(text).name, extra) for text in PROJECT["optional-dependencies"][extra]
        ]
    counted: set[str] = set()
    made: list[tuple[str, float | None, str]] = []
    for name, extra in sorted(asked, key=lambda one: (one[1] != "", one[0] != FIRST, one)):
        try:
            made.append((name, weight(name, counted), extra))
        except PackageNotFoundError:
            made.append((name, None, extra))
    return made


def main() -> None:
    """Print the table."""
    found = rows()
    for name, size, extra in found:
        print(f"{name:12} {'-' if size is None else f'{size:.1f}':>7}  {extra}")
    plain = sum(size or 0 for _, size, extra in found if not extra)
    print(f"{'together':12} {plain:7.1f}  (with all: {sum(size or 0 for _, size, _ in found):.1f})")


if __name__ == "__main__":
    main()
