"""The fuzzing: `make fuzz` runs it with as many examples as take an hour."""

import subprocess
import sys

import pytest
from tests.fuzz.subjects import SUBJECTS


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_property_of_a_subject_gets_its_share_of_examples(subject: str) -> None:
    """And it is told how many really ran."""
    examples = 3 * len(SUBJECTS[subject])
    sizes = ["--examples", str(examples), "--only", subject, "--jobs", "1", "--seed", "7"]
    ended = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "tests.fuzz", *sizes], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{examples} {subject} in " in ended.stdout
    for number, test in enumerate(SUBJECTS[subject]):
        assert f"3 {test}" in ended.stdout
        assert f"seed {7 + number} {test.rpartition('::')[2]}" in ended.stdout
