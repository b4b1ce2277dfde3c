"""How a kubelet misbehaves on purpose."""

from enum import Enum

import attrs


class Trouble(Enum):
    """What may happen to a Register."""

    REFUSED = "it is answered with an error"
    LOST = "the connection breaks before the answer"
    UNANSWERED = "it is never answered"


@attrs.frozen(kw_only=True)
class Fault:
    """One Register that goes wrong; `completing` if it registers all the same."""

    trouble: Trouble
    completing: bool = False
    reason: str = ""
