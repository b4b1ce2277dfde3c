"""A resource name is the kubelet's, or it is refused with the rule that it breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.errors import InvalidResourceNameError
from deviceplugin.domain.resources import MAX_DOMAIN, MAX_NAME, ResourceName

ONE_SLASH = "must contain exactly one '/'"
TWO_PARTS = "needs a domain and a name"
OWN = "the cluster's own"
QUOTA = "requests."
DNS = "lower-case DNS name"
SPELLING = "begin and end with a letter or digit"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("nsm.example", TWO_PARTS),
        ("", TWO_PARTS),
        ("a/b/c", ONE_SLASH),
        ("a//c", ONE_SLASH),
        ("kubernetes.io/x", OWN),
        ("node.kubernetes.io/x", OWN),
        ("mykubernetes.io/x", OWN),
        ("requests.a.b/x", QUOTA),
        ("Example.com/x", DNS),
        ("ex_x.com/a", DNS),
        ("exämple.com/x", DNS),
        ("example..com/x", DNS),
        (".example.com/x", DNS),
        ("example.com./x", DNS),
        ("-example.com/x", DNS),
        ("example-.com/x", DNS),
        ("example.-a.com/x", DNS),
        ("example.com \n/x", DNS),
        ("/x", DNS),
        ("d" * (MAX_DOMAIN + 1) + "/x", f"has {MAX_DOMAIN + 1} characters, at most {MAX_DOMAIN}"),
        ("example.com/", SPELLING),
        ("example.com/-x", SPELLING),
        ("example.com/x_", SPELLING),
        ("example.com/.x", SPELLING),
        ("example.com/x y", SPELLING),
        ("example.com/x\n", SPELLING),
        ("example.com/gerät", SPELLING),
        ("example.com/" + "x" * (MAX_NAME + 1), f"{MAX_NAME + 1} characters, at most {MAX_NAME}"),
    ],
)
def test_a_name_that_the_kubelet_refuses_is_refused_with_its_rule(text: str, rule: str) -> None:
    with pytest.raises(InvalidResourceNameError) as refusal:
        ResourceName.parse(text)
    assert rule in refusal.value.rule
    assert refusal.value.name == text
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "example.com/widget",
        "1.2/3",
        "a/b",
        "example.com/X_y.z",
        "example.com/x",
        "example.com/X",
        "example.com/x1",
        "request.example.com/x",
        "kubernetes.io.example.com/x",
        "l" * 63 + ".com/x",
        "d" * MAX_DOMAIN + "/x",
        "example.com/" + "x" * MAX_NAME,
    ],
)
def test_a_name_that_the_kubelet_takes_is_taken(text: str) -> None:
    assert str(ResourceName.parse(text)) == text


def test_the_limits_are_those_that_real_kubelets_showed() -> None:
    assert (MAX_DOMAIN, MAX_NAME) == (244, 63)


def test_the_parts_alone_are_held_to_the_same_rules() -> None:
    with pytest.raises(InvalidResourceNameError):
        ResourceName("example.com", "a/b")
    with pytest.raises(InvalidResourceNameError):
        ResourceName("example/com", "b")


def test_a_type_is_named_under_the_namespace_unless_it_has_a_domain() -> None:
    assert ResourceName.of("a.example", "widget") == ResourceName("a.example", "widget")
    assert ResourceName.of("a.example", "b.example/widget") == ResourceName("b.example", "widget")


def test_names_sort_by_domain_then_name() -> None:
    names = [ResourceName.parse(text) for text in ("b.c/a", "a.c/b", "a.c/a")]
    assert [str(name) for name in sorted(names)] == ["a.c/a", "a.c/b", "b.c/a"]


@given(st.text(max_size=400))
def test_any_text_is_a_name_or_is_refused_and_nothing_in_between(text: str) -> None:
    try:
        name = ResourceName.parse(text)
    except InvalidResourceNameError:
        return
    assert str(name) == text
    assert name.domain.isascii()
    assert name.name.isascii()
