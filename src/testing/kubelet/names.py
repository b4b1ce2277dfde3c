"""Which resource names the kubelet takes: `IsExtendedResourceName` and what it calls."""

import re
from typing import Final

_QUOTA_PREFIX: Final = "requests."
_MAX_DOMAIN: Final = 253
_MAX_NAME: Final = 63
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


def is_extended_resource(name: str) -> bool:
    """Tell whether a plugin may register `name`.

    The name is checked as the quota system would spell it, with `requests.` in front: that takes
    9 of the 253 characters of the domain. Labels may have any length.
    """
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    domain, _, short = f"{_QUOTA_PREFIX}{name}".partition("/")
    return _is_domain(domain) and _is_name(short)


def _is_domain(text: str) -> bool:
    return len(text) <= _MAX_DOMAIN and _DOMAIN.fullmatch(text) is not None


def _is_name(text: str) -> bool:
    return len(text) <= _MAX_NAME and _NAME.fullmatch(text) is not None
