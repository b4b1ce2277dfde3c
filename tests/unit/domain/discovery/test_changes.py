"""The laws of how two sets of rules differ."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.changes import RuleChanges
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.testing.rules import rule


def _rule(name: str, wanted: str, policy: str) -> ResourceRule:
    return attrs.evolve(rule(f"x.local/{name}", {"name": wanted}), allocation_policy=policy)


RULES = st.lists(
    st.builds(
        _rule,
        st.sampled_from("abcdef"),
        st.sampled_from(["tty*", "kvm"]),
        st.sampled_from(["none", "packed"]),
    ),
    unique_by=lambda each: each.resource,
)


@given(RULES, RULES)
def test_each_resource_is_told_once_for_what_became_of_it(
    older: list[ResourceRule], newer: list[ResourceRule]
) -> None:
    """Whoever makes just these changes to the older rules has the newer ones."""
    changes = RuleChanges.between(older, newer)
    before = {each.resource: each for each in older}
    after = {each.resource: each for each in newer}
    told = [*changes.added, *changes.removed, *changes.changed]
    assert len(set(told)) == len(told)
    assert all(before[name] != after[name] for name in changes.changed)
    made = {name: each for name, each in before.items() if name not in changes.removed}
    made |= {name: after[name] for name in (*changes.added, *changes.changed)}
    assert made == after
    stayed = [name for name in after if name in before]
    in_order = [name for name in before if name in after] == stayed
    assert changes.reordered == (() if in_order else tuple(stayed))


@given(RULES)
def test_of_equal_rules_nothing_changed(rules: list[ResourceRule]) -> None:
    assert RuleChanges.between(rules, [attrs.evolve(each) for each in rules]) == RuleChanges()


@given(RULES, RULES)
def test_only_another_policy_has_to_be_told_to_a_kubelet(
    older: list[ResourceRule], newer: list[ResourceRule]
) -> None:
    """Of resources that were there before: a new one registers anyway."""
    before = {each.resource: each.allocation_policy for each in older}
    assert RuleChanges.between(older, newer).repoliced == {
        each.resource
        for each in newer
        if before.get(each.resource, each.allocation_policy) != each.allocation_policy
    }
