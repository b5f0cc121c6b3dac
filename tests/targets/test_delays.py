"""Delays of devices."""

import pytest

from boolcomp.base import UsageError
from boolcomp.targets import DELAYS, delays_of


@pytest.mark.parametrize("device", DELAYS)
def test_a_longer_sum_is_slower_and_a_table_faster_than_a_sum(device: str) -> None:
    one = delays_of(device)
    times = [one.sum(bits) for bits in range(2, 40)]
    assert times == sorted(set(times))
    assert one.level < times[0]


def test_wires_grow_with_the_design() -> None:
    small, large = (delays_of("xilinx7", cells) for cells in (500, 8000))
    assert small.route < large.route
    assert small.detour < large.detour
    assert small.lut == large.lut


def test_an_unknown_device_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="ice40") as error:
        delays_of("ice4")
    assert "device" in str(error.value)
