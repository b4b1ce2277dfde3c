"""The laws of what programs are told of a look."""

import json

import attrs

from deviceplugin.app.report import report
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health, Mount
from deviceplugin.domain.discovery.events import EntryUnreadable, OptionalResourceUnmatched
from deviceplugin.domain.resources import ResourceName

FULL = DeviceInfo(
    health=Health.UNHEALTHY,
    nodes=[DeviceNode("/dev/a", container_path="/dev/b", permissions="r")],
    mounts=[Mount("/lib/a", container_path="/lib/b", read_only=False)],
    envs={"A": "1"},
    annotations={"b": "2"},
    numa_nodes=[1, 0],
    cdi_devices=["example.com/x=1"],
    parent="0000:00:01.0",
    share_of="whole",
    attributes={"driver": "x"},
)


def test_nothing_of_a_device_is_left_out() -> None:
    """Whatever a device may have is in the document, and survives the way through JSON."""
    name = ResourceName("x.local", "x")
    document = json.loads(json.dumps(report({name: {DeviceId("one"): FULL}}, ())))
    (device,) = document["resources"][0]["devices"]
    assert {*device, *device["container"]} - {"id", "container"} == {
        field.name for field in attrs.fields(DeviceInfo)
    }
    assert device["container"]["nodes"] == [
        {"host_path": "/dev/a", "container_path": "/dev/b", "permissions": "r"}
    ]
    assert device["container"]["mounts"] == [
        {"host_path": "/lib/a", "container_path": "/lib/b", "read_only": False}
    ]
    assert (device["health"], device["numa_nodes"]) == ("Unhealthy", [0, 1])


def test_order_is_that_of_names_and_ids() -> None:
    """However they were found, so that two documents can be compared as text."""
    names = [ResourceName("x.local", each) for each in "ba"]
    found = {name: {DeviceId(key): DeviceInfo() for key in "zyx"} for name in names}
    resources = report(found, ())["resources"]
    assert [each["name"] for each in resources] == ["x.local/a", "x.local/b"]
    assert [each["id"] for each in resources[0]["devices"]] == ["x", "y", "z"]


def test_a_problem_has_the_name_and_keys_of_its_log_line() -> None:
    unmatched = OptionalResourceUnmatched(
        resource=ResourceName("x.local", "x"), candidates=2, reasons=("a", "b")
    )
    unreadable = EntryUnreadable(path="/class/x", reason="Permission denied")
    assert report({}, [unreadable, unmatched])["problems"] == [
        {
            "event": "entry_unreadable",
            "level": "debug",
            "path": "/class/x",
            "reason": "Permission denied",
        },
        {
            "event": "optional_resource_unmatched",
            "level": "debug",
            "resource": "x.local/x",
            "candidates": 2,
            "reasons": ["a", "b"],
        },
    ]
