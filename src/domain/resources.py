"""Names of extended resources, by the kubelet's rules.

Source: IsExtendedResourceName of the kubelet's helpers, as five released versions applied it.
"""

import re
from typing import Final, Self

import attrs

from deviceplugin.domain.errors import InvalidResourceNameError

MAX_DOMAIN: Final = 244
"""Longest domain: 253 characters of a DNS name less the 9 of the quota prefix `requests.`."""
MAX_NAME: Final = 63
"""Longest name part, the limit of a qualified name."""

_DOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


@attrs.frozen(order=True, cache_hash=True)
class ResourceName:
    """A resource that a pod can ask for, such as `example.com/widget`.

    Built from its two parts or by `parse`; both raise `InvalidResourceNameError`, naming the rule.
    """

    domain: str
    name: str

    def __attrs_post_init__(self) -> None:
        """Refuse what the kubelet would refuse."""
        for holds, rule in _rules(self.domain, self.name):
            if not holds:
                raise InvalidResourceNameError(str(self), rule)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the resource that `text`, `domain/name`, names."""
        domain, slash, name = text.partition("/")
        if not slash:
            raise InvalidResourceNameError(
                text, "needs a domain and a name, as in example.com/widget"
            )
        return cls(domain, name)

    @classmethod
    def of(cls, namespace: str, type_name: str) -> Self:
        """Return a device type's resource: `namespace/type`, or the type if it has a domain."""
        return cls.parse(type_name) if "/" in type_name else cls(namespace, type_name)

    def __str__(self) -> str:
        """Return `domain/name`."""
        return f"{self.domain}/{self.name}"


def _rules(domain: str, name: str) -> tuple[tuple[bool, str], ...]:
    """Return each rule with whether it holds, the most telling first."""
    return (
        ("/" not in domain and "/" not in name, "must contain exactly one '/'"),
        (
            not domain.endswith("kubernetes.io"),
            "domains that end in kubernetes.io are the cluster's own",
        ),
        (not domain.startswith("requests."), "must not begin with 'requests.', which quotas use"),
        (
            len(domain) <= MAX_DOMAIN,
            f"the domain has {len(domain)} characters, at most {MAX_DOMAIN} fit",
        ),
        (
            _DOMAIN.fullmatch(domain) is not None,
            (
                "the domain must be a lower-case DNS name: letters a-z, digits, '-' and '.', "
                "each part beginning and ending with a letter or digit"
            ),
        ),
        (len(name) <= MAX_NAME, f"the name has {len(name)} characters, at most {MAX_NAME} fit"),
        (
            _NAME.fullmatch(name) is not None,
            (
                "the name after '/' must be of letters, digits, '-', '_' and '.', "
                "and begin and end with a letter or digit"
            ),
        ),
    )
