"""What is told of the kubelet's directories helps who has a command line, and who has none."""

import re
from pathlib import Path
from typing import Final

import deviceplugin

SOURCES: Final = Path(deviceplugin.__file__).parent
FLAG: Final = re.compile(r"--([a-z]+(?:-[a-z]+)+)")


def test_whoever_is_told_of_a_flag_is_told_of_the_option_of_a_manager_as_well() -> None:
    """Adapters and use cases serve programs that have no flags: `kubelet_root (--kubelet-root)`.

    The kubelet's own flag --root-dir has no such name.
    """
    files = [*(SOURCES / "adapters").rglob("*.py"), *(SOURCES / "app/use_cases").rglob("*.py")]
    told = [(file, found) for file in files for found in FLAG.finditer(file.read_text())]
    named = [(file, found) for file, found in told if found[1] != "root-dir"]
    assert {found[1] for _, found in named} == {"kubelet-root", "plugin-dir"}
    for file, found in named:
        before = re.sub(r"[\s\"]+", " ", found.string[: found.start()])
        assert before.endswith(f"{found[1].replace('-', '_')} ("), file
