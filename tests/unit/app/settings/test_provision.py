"""The laws of what a file says a container gets."""

from pathlib import Path

import pytest

from deviceplugin.app.settings import InvalidConfigurationError, load
from deviceplugin.domain.discovery.provision import Provision, Relation


def read(tmp_path: Path, keys: str) -> Provision:
    """Return what a resource with these keys gives beside nodes."""
    path = tmp_path / "plugin.yaml"
    path.write_text(f"version: 1\nresources:\n  - name: x\n    match: [{{name: x}}]\n{keys}")
    return load(str(path), {}, {}).rules[0].provision


def test_a_file_says_all_that_a_container_can_get(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
    with:
      - node: /dev/vfio/vfio
      - siblings: {subsystem: drm, name: "card*"}
        optional: true
        container_path: /dev/cards/
        permissions: r
      - children: {subsystem: sound}
      - iommu_group: {subsystem: vfio}
      - device: {usb: "10c4:ea60"}
    container_path: /dev/{name}
    mounts:
      - host_path: /etc/{id}
      - {host_path: /a, container_path: /b, read_only: false}
    env: {"A_{name}": "{node}", EMPTY: ""}
    annotations: {a/b: "{usb.serial|none}"}
    group_by: iommu_group
    count: 3
    limit: 2
""",
    )
    assert [str(each) for each in found.companions] == [
        "node: /dev/vfio/vfio",
        "siblings: {subsystem: drm, name: card*}",
        "children: {subsystem: sound}",
        "iommu_group: {subsystem: vfio}",
        "device: {usb.id: 10c4:ea60}",
    ]
    assert {each.relation for each in found.companions} == {*Relation}
    card = found.companions[1]
    assert (card.optional, str(card.container_path), card.permissions) == (
        True,
        "/dev/cards/",
        "r",
    )
    assert str(found.container_path) == "/dev/{name}"
    assert [
        (str(each.host_path), str(each.container_path or ""), each.read_only)
        for each in found.mounts
    ] == [("/etc/{id}", "", True), ("/a", "/b", False)]
    assert [(str(name), str(text)) for name, text in found.envs] == [
        ("A_{name}", "{node}"),
        ("EMPTY", ""),
    ]
    assert [(str(name), str(text)) for name, text in found.annotations] == [
        ("a/b", "{usb.serial|none}")
    ]
    assert (str(found.group_by), found.count, found.limit) == ("iommu_group", 3, 2)


def test_what_a_file_does_not_say_is_as_in_version_1(tmp_path: Path) -> None:
    """A device is one unit, and brings its node."""
    assert read(tmp_path, "") == Provision()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("with: []", ":5:11: needs at least one entry"),
        ("with: [{optional: true}]", "needs one of the keys node, device, siblings"),
        ("with: [{node: /dev/x, device: {name: x}}]", "and only one"),
        ("with: [{sibling: {name: x}}]", "did you mean 'siblings'?"),
        ("with: [{children: {}}]", "at least one condition"),
        ("with: [{node: dev/x}]", "/dev/"),
        ("container_path: dev/x", ":5:21: 'dev/x': must be an absolute path"),
        ("container_path: /dev/{container_path}", "cannot be made of container_path"),
        ("mounts: [{container_path: /x}]", "needs the key 'host_path'"),
        ("mounts: [{host_path: /../etc}]", "without '..'"),
        ("mounts: [{host_path: /x, read_only: yes}]", "must be true or false"),
        ("env: {A-B: x}", ":5:11: 'A-B': must be the name of an environment variable"),
        ("env: {A: 5}", "5 without quotes is the number 5; quote it: '5'"),
        ('env: {A: "{serial}"}', ":5:14: there is no fact 'serial': there are id, name"),
        ('env: {A: "{attributes}"}', "there is no fact 'attributes'"),
        ("annotations: {'': x}", "must have a name"),
        ("group_by: serial", "'serial' must be hardware, iommu_group, attributes.FILE"),
        ("count: 0", "'0' must be a whole number from 1 to 1000"),
        ("count: 1001", "from 1 to 1000"),
        ("count: 1.5", "must be a whole number"),
        ("count: 0100", ":5:12: 0100 without quotes is the number 64; write 100, without a 0"),
        ("limit: 00", ":5:12: 00 without quotes is the number 0; write 0, without a 0 first"),
        (
            "with: [{node: /dev/snd/*, container_path: /dev/sound}]",
            ":5:12: container_path '/dev/sound': is one path, and node: /dev/snd/* may be",
        ),
        ("limit: 0", "must be a whole number from 1"),
    ],
)
def test_a_fault_says_where_and_what_is_meant(tmp_path: Path, keys: str, said: str) -> None:
    with pytest.raises(InvalidConfigurationError) as caught:
        read(tmp_path, f"    {keys}\n")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "separator"),
    [("", ","), ('    env_separator: ";"\n', ";"), ("    env_separator: none\n", None)],
)
def test_values_of_a_variable_are_joined_by_a_comma_unless_said_otherwise(
    tmp_path: Path, keys: str, separator: str | None
) -> None:
    assert read(tmp_path, f"{keys}    env: {{A: x}}\n").env_separator == separator


@pytest.mark.parametrize("text", ["''", "abcdefghi", '"a\\nb"'])
def test_a_separator_that_cannot_be_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidConfigurationError, match="1 to 8 printable characters, or none"):
        read(tmp_path, f"    env_separator: {text}\n")
