"""How the answers of several resources become one container."""

from deviceplugin.testing.kubelet import Answer, DeviceSpec, Mount
from deviceplugin.testing.kubelet.merge import merged


def spec(container_path: str, host_path: str, permissions: str = "rw") -> DeviceSpec:
    """Return a device node."""
    return DeviceSpec(
        container_path=container_path,
        host_path=host_path,
        permissions=permissions,
    )


def mount(container_path: str, host_path: str) -> Mount:
    """Return a mount."""
    return Mount(container_path=container_path, host_path=host_path)


def test_what_does_not_clash_is_added_up() -> None:
    """Nothing is lost when every key is there once."""
    one = Answer(envs={"A": "1"}, devices=(spec("/dev/a", "/dev/a"),), cdi_devices=("v/c=1",))
    two = Answer(annotations={"k": "2"}, mounts=(mount("/m", "/m"),), cdi_devices=("v/c=2",))
    assert merged([one, two]) == Answer(
        envs={"A": "1"},
        annotations={"k": "2"},
        devices=one.devices,
        mounts=two.mounts,
        cdi_devices=("v/c=1", "v/c=2"),
    )


def test_the_first_answer_wins_a_clash() -> None:
    """Of equal names, keys and container paths the first stays, whatever else differs."""
    one = Answer(
        envs={"A": "1"},
        annotations={"k": "1"},
        devices=(spec("/dev/a", "/dev/a1"),),
        mounts=(mount("/m", "/m1"),),
        cdi_devices=("v/c=1",),
    )
    two = Answer(
        envs={"A": "2"},
        annotations={"k": "2"},
        devices=(spec("/dev/a", "/dev/a2"),),
        mounts=(mount("/m", "/m2"),),
        cdi_devices=("v/c=1",),
    )
    assert merged([one, two]) == one
    assert merged([two, one]) == two


def test_one_answer_is_merged_too() -> None:
    """Within one answer the first device and mount of a container path stay, CDI names once."""
    answer = Answer(
        devices=(spec("/dev/a", "/dev/1"), spec("/dev/a", "/dev/2")),
        mounts=(mount("/m", "/1"), mount("/m", "/2")),
        cdi_devices=("v/c=1", "v/c=1"),
    )
    assert merged([answer]) == Answer(
        devices=(spec("/dev/a", "/dev/1"),),
        mounts=(mount("/m", "/1"),),
        cdi_devices=("v/c=1",),
    )


def test_permissions_pass_through_as_they_are() -> None:
    """Nobody checks or completes the permissions of a device node."""
    answer = Answer(devices=(spec("/dev/a", "/dev/a", ""), spec("/dev/b", "/dev/b", "xyz")))
    assert merged([answer]).devices == answer.devices
