"""The laws of patterns."""

from fnmatch import fnmatchcase
from time import process_time
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.globs import MAX_PATTERN, Glob, NodeGlob
from deviceplugin.domain.errors import InvalidValueError


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("ttyUSB*", ["ttyUSB0", "ttyUSB"], ["xttyUSB0", "TTYUSB0", "ttyusb0", "ttyS0"]),
        ("ttyUSB?", ["ttyUSB0"], ["ttyUSB", "ttyUSB10"]),
        ("vcs[1-3]", ["vcs1", "vcs3"], ["vcs4", "vcs", "vcs12"]),
        ("vcs[!1-3]", ["vcs4", "vcsa"], ["vcs1", "vcs"]),
        ("[*]", ["*"], ["x"]),
        ("[[]x", ["[x"], ["x"]),
        ("a[b", ["a[b"], ["ab"]),
        ("[]]", ["]"], ["[", ""]),
        ("[!]]", ["x"], ["]"]),
        ("[!]", ["[!]"], ["!", "x"]),
        ("[]", ["[]"], ["]", ""]),
        ("[!a-]", ["b"], ["a", "-"]),
        ("[c-a]", [], ["a", "b", "c", "-"]),
        ("a.b", ["a.b"], ["axb"]),
        ("*", ["", "any", "any\nlines"], []),
        ("my device", ["my device"], ["mydevice"]),
    ],
)
def test_a_glob_fits_whole_values_as_in_a_shell(
    pattern: str, fitting: list[str], other: list[str]
) -> None:
    assert [each for each in fitting if not Glob(pattern).fits(each)] == []
    assert [each for each in other if Glob(pattern).fits(each)] == []


@given(
    st.text(alphabet="ab*?[]!-^\\.\n", min_size=1, max_size=9),
    st.text(alphabet="ab]!-^[\\.\n", max_size=6),
)
def test_a_glob_means_what_fnmatch_means(pattern: str, value: str) -> None:
    """People know these rules; only their limits are our own."""
    assert Glob(pattern).fits(value) == fnmatchcase(value, pattern)


@pytest.mark.parametrize("pattern", ["*a" * 2000 + "b", "*[!b]" * 800 + "b", "*" * 4000 + "b"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    """A file of configuration can slow down the plugin, not stop it."""
    glob, begin = Glob(pattern), process_time()
    assert not glob.fits("a" * 4096)
    assert process_time() - begin < 1


class Watched(str):
    """Text that counts how many of its letters are looked at when something is looked for."""

    __slots__ = ()
    seen = 0

    def find(
        self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /
    ) -> int:
        """Count the letters up to what is found, or all that follow."""
        found = super().find(sub, start, end)
        Watched.seen += (len(self) if found < 0 else found) - int(start or 0)
        return found

    def __getitem__(self, key: SupportsIndex | slice) -> "Watched":
        """Count the letters that are taken."""
        taken = Watched(super().__getitem__(key))
        Watched.seen += len(taken)
        return taken


@pytest.mark.parametrize(
    "text", ["[" * 4000, "[a" * 2000, "[!" * 2000, "[]" * 2000, "[" * 3998 + "a]", "*[ab]" * 800]
)
def test_making_one_looks_at_each_letter_a_few_times(text: str) -> None:
    """Whatever is never closed: the work grows as the text does."""
    Watched.seen = 0
    Glob(Watched(text))
    assert len(text) <= Watched.seen <= 6 * len(text)


@pytest.mark.parametrize(
    ("text", "weight"), [("ttyUSB0", 0), ("ttyUSB*", 7), ("/dev/kvm", 0), ("/dev/[ab]x?", 11)]
)
def test_a_glob_weighs_what_it_takes_to_make_it(text: str, weight: int) -> None:
    """A character each, if it has wildcards; text alone is only compared."""
    glob = NodeGlob(text) if text.startswith("/") else Glob(text)
    assert glob.weight == weight
    assert glob.literal == (weight == 0)


@pytest.mark.parametrize("text", ["", "x" * (MAX_PATTERN + 1)])
def test_a_pattern_that_fits_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="1 to 4096 characters"):
        Glob(text)


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("/dev/kvm", ["/dev/kvm"], ["/dev/kvm0", "/dev/net/kvm"]),
        ("/dev/*", ["/dev/kvm"], ["/dev/net/tun", "/dev"]),
        ("/dev/serial/by-id/usb-*", ["/dev/serial/by-id/usb-x"], ["/dev/serial/by-id/x/usb-"]),
        ("/dev/*/by-id/?", ["/dev/serial/by-id/a"], ["/dev/serial/by-id/ab"]),
        ("/dev/a[/]b", ["/dev/a[/]b"], ["/dev/a/b"]),
    ],
)
def test_wildcards_of_a_node_never_cross_a_slash(
    pattern: str, fitting: list[str], other: list[str]
) -> None:
    assert [each for each in fitting if not NodeGlob(pattern).fits(each)] == []
    assert [each for each in other if NodeGlob(pattern).fits(each)] == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("kvm", "below /dev"),
        ("/dev", "below /dev"),
        ("/devices/x", "below /dev"),
        ("/etc/passwd", "below /dev"),
        ("/dev/../etc/passwd", "'..'"),
        ("/dev//kvm", "empty parts"),
        ("/dev/serial/", "empty parts"),
        ("/dev/**/x", "one '*' for each level"),
        ("/dev/" + "x/" * 3000 + "x", "at most 4096"),
    ],
)
def test_a_node_is_a_path_below_dev(text: str, rule: str) -> None:
    """The error names the rule that is broken."""
    with pytest.raises(InvalidValueError) as caught:
        NodeGlob(text)
    assert rule in str(caught.value)


def test_patterns_that_read_alike_are_equal() -> None:
    """They are values."""
    assert Glob("a*") == Glob("a*") != Glob("a?")
    assert len({NodeGlob("/dev/a"), NodeGlob("/dev/a")}) == 1
