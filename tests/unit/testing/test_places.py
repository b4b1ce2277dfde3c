"""Where tests put their sockets."""

import os
from pathlib import Path
from tempfile import gettempdir

LONGEST_SOCKET_PATH = 107
SOCKET = "device-plugins/dp-0123456789ab-01234567.sock"


def test_a_socket_fits_below_a_tests_directory_whoever_runs_it_and_however_long_its_own_name_is(
    tmp_path: Path,
) -> None:
    """Only a temporary directory that is deep itself is too deep."""
    taken = len(os.fsencode(tmp_path / SOCKET)) - len(os.fsencode(gettempdir()))
    assert taken <= LONGEST_SOCKET_PATH - 40
