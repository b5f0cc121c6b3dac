"""What a design makes of many words, run on this machine: C is the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.files import temporary_folder, write_bytes
from boolcomp.measure.cycles.board import OPTIMISED, compiled, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.measure.cycles.design import Design

_HOST_MAIN = """\
#include <stdint.h>
#include <stdio.h>
#include "@NAME@.h"
int main(void)
{
    int32_t row[@WIDTH@], result[@COUNT@];
    FILE *from = fopen("given.bin", "rb"), *to = fopen("made.bin", "wb");
    if (!from || !to)
        return 1;
    while (fread(row, sizeof row, 1, from) == 1) {
        @NAME@_inputs given;
        @NAME@_outputs made;
@GIVEN@
        @NAME@(&given, &made);
@MADE@
        fwrite(result, sizeof result, 1, to);
    }
    return fclose(to) != 0;
}
"""


def outputs_of(design: Design, words: NDArray[np.int64], deadline: float) -> NDArray[np.int64]:
    """Return the words of all outputs, (samples, outputs); the design's element is an integer."""
    gaps = {
        "NAME": design.function, "WIDTH": str(len(design.given)), "COUNT": str(len(design.made)),
        "GIVEN": "\n".join(
            f"        given.{name} = ({design.element})row[{k}];"
            for k, name in enumerate(design.given)
        ),
        "MADE": "\n".join(
            f"        result[{k}] = made.{name};" for k, name in enumerate(design.made)
        ),
    }  # fmt: skip
    text = _HOST_MAIN
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    compiler = ["gcc", "-std=c99", OPTIMISED[0]]
    with temporary_folder() as folder:
        objects = compiled(compiler, design, text, folder, deadline)
        run([*compiler, "-o", "run", *objects, "-lm"], folder, deadline)
        write_bytes(folder / "given.bin", words.astype(np.int32).tobytes())
        run([str(folder / "run")], folder, deadline)
        made = np.frombuffer((folder / "made.bin").read_bytes(), np.int32)
    return made.reshape(len(words), -1).astype(np.int64)
