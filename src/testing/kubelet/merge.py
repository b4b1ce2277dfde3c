"""How the answers of several resources become one container: first wins, without a word."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from deviceplugin.testing.kubelet.values import Answer, DeviceSpec, Mount

_Item = TypeVar("_Item")


def merged(answers: Iterable[Answer]) -> Answer:
    """Return one answer out of several, in the order given (the kubelet's order is chance).

    Envs and annotations are told apart by key, devices and mounts by container path alone, CDI
    devices by name: `deviceRunContainerOptions` of the device manager.
    """
    answers = tuple(answers)
    return Answer(
        envs=dict(_first((item for answer in answers for item in answer.envs.items()), _key)),
        annotations=dict(
            _first((item for answer in answers for item in answer.annotations.items()), _key),
        ),
        devices=_first((spec for answer in answers for spec in answer.devices), _container_path),
        mounts=_first((mount for answer in answers for mount in answer.mounts), _container_path),
        cdi_devices=_first((name for answer in answers for name in answer.cdi_devices), str),
    )


def _first(items: Iterable[_Item], key: Callable[[_Item], str]) -> tuple[_Item, ...]:
    seen: dict[str, _Item] = {}
    for item in items:
        seen.setdefault(key(item), item)
    return tuple(seen.values())


def _key(pair: tuple[str, str]) -> str:
    return pair[0]


def _container_path(part: DeviceSpec | Mount) -> str:
    return part.container_path
