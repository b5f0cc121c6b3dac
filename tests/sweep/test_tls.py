"""Clusters over TLS: who has no certificate of their authority is refused, with a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sweepcells
from clusters import Cluster, needs_loopback
from sweepcells import spec

pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
pytest.importorskip("cryptography", reason="what makes certificates is not installed")

from collections.abc import Mapping

from tlscertificates import authority

SCRIPT = str(Path(sweepcells.__file__))


def swept(
    folder: Path, address: str, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a sweep of a cell on a cluster; a client that nobody answers waits a second."""
    text = (
        "import sys; sys.argv[0] = sys.argv.pop(1)\n"
        "from boolcomp.base import dask as daskcluster\n"
        "daskcluster.PATIENCE = float(sys.argv.pop(1))\n"
        "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    patience = "60" if environment.get("WELCOME") else "2"
    path = spec(folder, bits=[5])
    command = [sys.executable, "-c", text, SCRIPT, patience, "quick", "sweep", str(path)]
    return subprocess.run(
        [*command, "-o", str(folder / "out"), "--cluster", address, "--json"],
        env={**os.environ, "PYTHONPATH": str(Path(SCRIPT).parent), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@needs_loopback
@pytest.mark.check
def test_over_tls_a_client_with_a_certificate_is_served_and_others_are_refused(
    tmp_path: Path,
) -> None:
    ours, others = authority(tmp_path / "ours"), authority(tmp_path / "others")
    with Cluster(tmp_path, workers=1, environment=ours, options=("--protocol", "tls")) as cluster:
        address = json.loads(cluster.file.read_text())["address"]
        assert address.startswith("tls://127.0.0.1:")
        served = swept(tmp_path, str(cluster.file), {**ours, "WELCOME": "yes"})
        assert json.loads(served.stdout)["done"] == 1, served.stderr
        (tmp_path / "out" / "cells").rename(tmp_path / "served")
        nothing = dict.fromkeys(ours, "")
        answers = {
            2: (nothing, "TLS needs certificates"),
            1: (others, "no Dask scheduler answers"),
        }
        for code, (environment, sentence) in answers.items():
            refused = swept(tmp_path, address, environment)
            assert refused.returncode == code
            *_, last, hint = refused.stderr.splitlines()
            assert last.startswith(f"error: {sentence}"), refused.stderr
            assert address in last
            assert hint.startswith("  hint: ")
            assert "Traceback" not in refused.stderr
            assert not (tmp_path / "out" / "cells").exists()
