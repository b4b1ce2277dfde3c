"""Which announcements are worth a look."""

import pytest

from deviceplugin.domain.discovery.bustle import BUSTLE, matters_to
from deviceplugin.testing.rules import rule


@pytest.mark.parametrize("subsystem", ["tty", "usb", "", "something new"])
def test_what_may_be_part_of_a_device_always_matters(subsystem: str) -> None:
    """A parent that comes or goes concerns what is below it."""
    assert matters_to([rule("x.local/x", {"subsystem": "misc"})])(subsystem)


@pytest.mark.parametrize("subsystem", sorted(BUSTLE))
def test_bustle_matters_to_rules_that_may_mean_it(subsystem: str) -> None:
    """And to no other: each pod that starts would bring a look."""
    assert not matters_to([])(subsystem)
    assert not matters_to([rule("x.local/x", {"subsystem": "misc"})])(subsystem)
    assert not matters_to([rule("x.local/x", {"node": "/dev/kvm"})])(subsystem)
    assert matters_to([rule("x.local/x", {"subsystem": subsystem})])(subsystem)
    assert matters_to([rule("x.local/x", {"name": "eth*"})])(subsystem)
