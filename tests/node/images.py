"""Images, made of this machine's busybox: nothing is pulled from anywhere."""

import hashlib
import io
import json
import platform
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

POD: Final = "localhost/pod:1"
"""Busybox and its links."""
PAUSE: Final = "localhost/pause:1"
"""The same, asleep: what holds a pod's namespaces."""

_COMMANDS: Final = ("cat", "dd", "echo", "ls", "mknod", "sh", "sleep", "stat")
_FOR_LONG: Final = "1000000"
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_OCI: Final = "application/vnd.oci.image"


def write_images(path: Path) -> None:
    """Write an archive of both, in the OCI image layout."""
    layer = _layer()
    commands = {POD: ["/bin/sh"], PAUSE: ["/bin/sleep", _FOR_LONG]}
    with tarfile.open(path, "w") as archive:
        manifests = [
            {
                **_blob(archive, f"{_OCI}.manifest.v1+json", _image(archive, layer, command)),
                "annotations": {"io.containerd.image.name": name},
            }
            for name, command in commands.items()
        ]
        _add(archive, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        index = {"schemaVersion": 2, "manifests": manifests}
        _add(archive, "index.json", json.dumps(index).encode())


def _layer() -> bytes:
    busybox = shutil.which("busybox")
    assert busybox is not None
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as layer:
        for name, mode in (("bin", 0o755), ("dev", 0o755), ("proc", 0o755), ("tmp", 0o1777)):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, mode
            layer.addfile(directory)
        _add(layer, "bin/busybox", Path(busybox).read_bytes(), mode=0o755)
        for name in _COMMANDS:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            layer.addfile(link)
    return file.getvalue()


def _image(archive: tarfile.TarFile, layer: bytes, command: Sequence[str]) -> bytes:
    """Return the manifest of an image that is this layer, whose blobs are in the archive."""
    layer_blob = _blob(archive, f"{_OCI}.layer.v1.tar", layer)
    configuration = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Entrypoint": command, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer_blob["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": _blob(archive, f"{_OCI}.config.v1+json", json.dumps(configuration).encode()),
        "layers": [layer_blob],
    }
    return json.dumps(manifest).encode()


def _blob(archive: tarfile.TarFile, kind: str, data: bytes) -> Mapping[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    _add(archive, f"blobs/sha256/{digest}", data)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    if name in archive.getnames():
        return
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    archive.addfile(entry, io.BytesIO(data))
