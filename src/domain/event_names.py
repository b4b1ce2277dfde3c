"""How an event is called wherever it is shown: names are promises, and a test holds the list."""

import re
from typing import Final

from deviceplugin.domain.events import Event

_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def event_name(kind: type[Event]) -> str:
    """Return the name of a kind of event: `KubeletAppeared` is kubelet_appeared."""
    return _WORD.sub("_", kind.__name__).lower()
