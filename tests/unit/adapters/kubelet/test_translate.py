"""Messages and values mean the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.adapters.kubelet.translate import (
    from_grants,
    from_listing,
    from_options,
    from_preferences,
    from_registration,
    to_device_ids,
    to_wish,
)
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceNode, Health, id_as_held
from deviceplugin.domain.errors import UnknownDeviceError
from deviceplugin.domain.inventory import ListedDevice, Listing
from deviceplugin.domain.ports.driven.kubelet import Registration
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.room import MAX_LIST_BYTES, listed_bytes


def test_unknown_topology_is_left_out_of_the_message() -> None:
    """An empty one would count as known and fit nowhere under a strict policy."""
    (device,) = from_listing((ListedDevice(DeviceId("a"), Health.HEALTHY),)).devices
    assert not device.HasField("topology")


def test_numa_node_zero_is_sent_as_a_present_node() -> None:
    """Proto3 hides a zero in text; on the wire the node is there."""
    (device,) = from_listing((ListedDevice(DeviceId("a"), Health.HEALTHY, (0,)),)).devices
    assert len(device.topology.nodes) == 1
    assert device.topology.nodes[0].ID == 0


def test_a_device_may_sit_on_several_nodes() -> None:
    """All are sent, in order."""
    (device,) = from_listing((ListedDevice(DeviceId("a"), Health.HEALTHY, (0, 3)),)).devices
    assert [node.ID for node in device.topology.nodes] == [0, 3]


def test_health_is_the_kubelets_exact_text() -> None:
    """Anything but `Healthy` counts as unhealthy."""
    listing = (
        ListedDevice(DeviceId("a"), Health.HEALTHY),
        ListedDevice(DeviceId("b"), Health.UNHEALTHY),
    )
    assert [device.health for device in from_listing(listing).devices] == ["Healthy", "Unhealthy"]


def test_equal_listings_are_equal_bytes() -> None:
    """In the listing's order, which is by id."""
    listing = tuple(ListedDevice(DeviceId(name), Health.HEALTHY, (0,)) for name in "abc")
    first, second = (from_listing(listing).SerializeToString() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("pre_start", [True, False])
@pytest.mark.parametrize("preferred", [True, False])
def test_register_carries_the_options_that_the_plugin_answers(
    *, pre_start: bool, preferred: bool
) -> None:
    """In all four combinations, so that no kubelet can read two things."""
    options = Options(pre_start, preferred)
    request = from_registration(
        Registration(
            resource=ResourceName("example.com", "widget"), endpoint="p.sock", options=options
        )
    )
    assert request.options == from_options(options)
    assert request.options.pre_start_required == pre_start
    assert request.options.get_preferred_allocation_available == preferred
    assert (request.version, request.endpoint) == ("v1beta1", "p.sock")
    assert request.resource_name == "example.com/widget"


@pytest.mark.parametrize("text", ["", "a" * 64, "a\0b", "a\nb"])
def test_what_can_be_no_id_was_never_advertised(text: str) -> None:
    """It is an unknown device, not a fault of ours."""
    with pytest.raises(UnknownDeviceError):
        to_device_ids(["good", text])


def test_each_container_has_its_own_answer() -> None:
    """Kubelets send one, and we would answer several."""
    grants = [Grant(nodes=(DeviceNode("/dev/a"),)), Grant()]
    assert [len(each.devices) for each in from_grants(grants).container_responses] == [1, 0]
    choices = from_preferences([[DeviceId("a")], []]).container_responses
    assert [list(each.deviceIDs) for each in choices] == [["a"], []]


def test_a_wish_is_what_the_kubelet_asked() -> None:
    """Ids and the whole size."""
    request = wire.ContainerPreferredAllocationRequest(
        available_deviceIDs=["b", "a"], must_include_deviceIDs=["a"], allocation_size=2
    )
    wish = to_wish(request)
    assert [str(key) for key in wish.available] == ["b", "a"]
    assert ([str(key) for key in wish.must_include], wish.size) == (["a"], 2)


def listed(count: int, *nodes: int) -> Listing:
    """Return devices whose ids have forty letters."""
    return tuple(
        ListedDevice(DeviceId(f"{number:040}"), Health.HEALTHY, nodes) for number in range(count)
    )


@pytest.mark.parametrize(("nodes", "size"), [((), 53), ((0,), 57), ((1,), 59)])
def test_a_device_costs_a_list_its_id_and_little_more(nodes: tuple[int, ...], size: int) -> None:
    assert from_listing(listed(1000, *nodes)).ByteSize() == 1000 * size


def test_so_many_devices_fit_into_what_a_kubelet_takes_and_no_more() -> None:
    """Into 4 MiB, by the message itself and not only by what one device costs."""
    assert MAX_LIST_BYTES == 4 * 1024 * 1024
    assert from_listing(listed(79_137)).ByteSize() <= MAX_LIST_BYTES
    assert from_listing(listed(79_138)).ByteSize() > MAX_LIST_BYTES


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200),
    st.frozensets(st.integers(0, 2**63 - 1), max_size=20),
    st.sampled_from(Health),
)
def test_a_device_takes_no_more_of_a_list_than_is_reckoned(
    text: str, nodes: frozenset[int], health: Health
) -> None:
    device = ListedDevice(id_as_held(text.replace("\0", "")), health, tuple(sorted(nodes)))
    size = from_listing((device,)).ByteSize()
    assert size <= listed_bytes(device.id.value, nodes) <= size + 24 + 13 * len(nodes)
