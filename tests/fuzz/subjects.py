"""What is fuzzed: properties by what they are about."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_TREES: Final = "tests/unit/adapters/sysfs/test_random_trees.py"
_DOCUMENTS: Final = "tests/unit/app/settings/test_random_documents.py"
_MESSAGES: Final = "tests/unit/adapters/uevent/test_message.py"
_HOLDS: Final = "tests/unit/domain/discovery/test_holding.py"

SUBJECTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "trees": (
            f"{_TREES}::test_no_tree_breaks_a_scan_or_hides_a_good_device",
            f"{_TREES}::test_whatever_a_tree_is_its_recording_says_the_same",
            f"{_TREES}::test_no_tree_breaks_what_comes_along_or_hides_a_good_device",
        ),
        "documents": (
            f"{_DOCUMENTS}::test_no_text_breaks_the_reading",
            f"{_DOCUMENTS}::test_no_resources_break_the_reading",
            f"{_DOCUMENTS}::test_a_bad_resource_hides_no_good_one",
            f"{_DOCUMENTS}::test_no_aliases_break_the_reading",
            f"{_DOCUMENTS}::test_no_pattern_breaks_the_reading",
            f"{_DOCUMENTS}::test_what_the_schema_refuses_is_refused",
        ),
        "messages": (f"{_MESSAGES}::test_no_message_breaks_the_reading",),
        "holds": (f"{_HOLDS}::test_no_device_is_ever_held_by_two_ids",),
    }
)
"""The properties of each subject share its examples evenly."""
