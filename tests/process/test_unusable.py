"""What cannot be used is told in lines that say what is wrong, and is exit code 2."""

import os
from pathlib import Path

import pytest
from tests.support.nobody import NOBODY
from tests.support.process import DEVICEPLUGIN, Ended, ran, unprivileged

RUN = (*DEVICEPLUGIN, "run")


def assert_told(ended: Ended, *lines: str) -> None:
    """Each of these lines was said, with what stands in it, and nothing else."""
    assert (ended.code, ended.out) == (2, "")
    said = ended.err.splitlines()
    assert len(said) == len(lines), ended.err
    for line, wanted in zip(said, lines, strict=True):
        assert wanted in line


# --- the plugin directory, of a kubelet that could not find us otherwise -------------------------


def test_a_file_is_no_plugin_directory(place: Path) -> None:
    file = place / "plugins"
    file.write_text("mine")
    ended = ran(*RUN, "--plugin-dir", str(file), "--kubelet-root", str(place), place=place)
    assert_told(ended, f"plugin directory {file}: access: Not a directory")
    assert file.read_text() == "mine"


def test_a_directory_that_may_not_be_written_to_is_named_with_the_user(place: Path) -> None:
    """As a user without root's powers; the errno's text, the uid, and what to do."""
    user = unprivileged()
    plugins = place / "plugins"
    plugins.mkdir(mode=0o555)
    plugins.chmod(0o555)
    directories = ("--plugin-dir", str(plugins), "--kubelet-root", str(place))
    ended = ran(*user, *RUN, *directories, place=place)
    uid = os.geteuid() or NOBODY
    assert_told(
        ended, f"plugin directory {plugins}: access: Permission denied (uid {uid}); run as root"
    )


def test_a_path_too_long_for_a_socket_is_measured(place: Path) -> None:
    """It says how long it is, what the limit is and what to do, whether it is there or not."""
    plugins = place / ("x" * 80)
    ended = ran(*RUN, "--plugin-dir", str(plugins), place=place)
    needed = len(str(plugins)) + 30
    assert_told(
        ended,
        f"plugin directory {plugins}: a socket's path in it has {needed} bytes, Linux allows 107; "
        f"use a directory whose path is {needed - 107} bytes shorter",
    )


def test_a_path_that_grpc_reads_otherwise_is_refused(place: Path) -> None:
    """It names the characters."""
    plugins = place / "a%b#c?d"
    plugins.mkdir()
    ended = ran(*RUN, "--plugin-dir", str(plugins), place=place)
    assert_told(ended, f"plugin directory {plugins}: gRPC reads # % ? in a target otherwise")
    assert list(plugins.iterdir()) == []


# --- the configuration ---------------------------------------------------------------------------

FAULTY = """\
version: 2
bogus: 1
resources:
  - name: kvm
    mach:
      - {subsystem: misc}
  - name: 0403
    match: []
"""


@pytest.mark.parametrize("command", ["run", "scan"])
def test_every_fault_of_a_file_is_told_with_its_place(command: str, place: Path) -> None:
    """`file:line:column: what is wrong, what is allowed`, all at once, in the file's order."""
    (place / "plugin.yaml").write_text(FAULTY)
    ended = ran(*DEVICEPLUGIN, command, "--config", "plugin.yaml", place=place)
    assert_told(
        ended,
        "plugin.yaml:1:10: version must be the number 1",
        "plugin.yaml:2:1: unknown key 'bogus': allowed are version, domain, plugin_dir,",
        "plugin.yaml:4:5: needs the key 'match'",
        "plugin.yaml:5:5: unknown key 'mach': did you mean 'match'? allowed are name, match,",
        "plugin.yaml:7:11: 0403 without quotes is the number 259; quote it: '0403'",
        "plugin.yaml:8:12: needs at least one entry",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "plugin.yaml:1:1: is empty"),
        ("version: 1\nresources:\n\t- name: x\n", "plugin.yaml:3:1: there is a tab"),
        ('{"version": 1, "resources": [}', "plugin.yaml:1:30: this is no YAML"),
    ],
    ids=["empty", "tab", "broken"],
)
def test_what_is_no_configuration_is_told_with_its_place(
    text: str, line: str, place: Path
) -> None:
    (place / "plugin.yaml").write_text(text)
    ended = ran(*RUN, "--config", "plugin.yaml", place=place)
    assert_told(ended, line)


def test_a_huge_file_is_not_read_to_its_end(place: Path) -> None:
    """A hundred MiB cost no more time and memory than one."""
    with (place / "plugin.yaml").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    ended = ran(*RUN, "--config", "plugin.yaml", place=place)
    assert_told(ended, "plugin.yaml: is too large: at most 1048576 bytes are read")


@pytest.mark.parametrize(
    ("name", "reason"), [("missing.yaml", "No such file"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_named(name: str, reason: str, place: Path) -> None:
    ended = ran(*RUN, "--config", name, place=place)
    assert_told(ended, f"{name}: cannot be read: {reason}")


# --- flags and variables -------------------------------------------------------------------------


def test_faults_of_flags_and_variables_are_told_by_their_names(place: Path) -> None:
    """All at once, each with what is allowed."""
    ended = ran(
        *DEVICEPLUGIN,
        "run",
        *("--log-level", "loud"),
        *("--plugin-dir", "plugins"),
        place=place,
        variables={"DEVICEPLUGIN_RESCAN_SECONDS": "often", "DEVICEPLUGIN_LOG_FORMAT": "xml"},
    )
    assert_told(
        ended,
        "--plugin-dir: 'plugins' must be an absolute path",
        "DEVICEPLUGIN_RESCAN_SECONDS: 'often' must be a number of seconds, 0.1 to 86400",
        "--log-level: 'loud' must be one of debug, info, warning, error",
        "DEVICEPLUGIN_LOG_FORMAT: 'xml' must be one of text, json",
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--loud"], "--loud"),
        (["serve"], "serve"),
        (["scan", "extra"], "extra"),
        (["run", "--config"], "--config"),
    ],
)
def test_what_is_not_understood_is_named(arguments: list[str], named: str, place: Path) -> None:
    """The last line says it; how to use the command stands above."""
    ended = ran(*DEVICEPLUGIN, *arguments, place=place)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
