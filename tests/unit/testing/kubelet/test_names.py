"""Which resource names the kubelet takes."""

import pytest

from deviceplugin.testing.kubelet.names import is_extended_resource


@pytest.mark.parametrize(
    "name",
    [
        "example.com/widget",
        "a/b",
        "1.2/3",
        "color.example.com/Yellow-2_x.y",
        f"{'l' * 63}.com/x",
        f"{'l' * 244}/x",
        f"a.b/{'n' * 63}",
    ],
)
def test_takes(name: str) -> None:
    """A lower-case domain of up to 244 characters and a name of up to 63 are fine."""
    assert is_extended_resource(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "widget",
        "hugepages-2Mi",
        "a.b/c/d",
        "/x",
        "a.b/",
        "kubernetes.io/x",
        "foo.kubernetes.io/x",
        "requests.a/b",
        "Example.com/x",
        "ex_x.com/a",
        "a..b/x",
        "-a.b/x",
        "a.b/-x",
        "a.b/x-",
        "a.b/x y",
        "a.b/x\n",
        "exämple.com/x",
        "example.com/ü",
        f"{'l' * 245}/x",
        f"a.b/{'n' * 64}",
    ],
)
def test_refuses(name: str) -> None:
    """No or two slashes, reserved domains, other alphabets and overlong parts are not."""
    assert not is_extended_resource(name)
