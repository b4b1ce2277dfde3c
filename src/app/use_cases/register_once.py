"""Register a socket, and say what that means to its lifecycle."""

from collections.abc import Mapping
from typing import Final

import attrs

from deviceplugin.domain.errors import (
    KubeletForbiddenError,
    KubeletUnreachableError,
    RegistrationError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    SocketLostError,
)
from deviceplugin.domain.phases import Signal
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin

_OUTCOMES: Final[Mapping[type[RegistrationError], Signal]] = {
    KubeletUnreachableError: Signal.UNREACHABLE,
    KubeletForbiddenError: Signal.FORBIDDEN,
    RegistrationRefusedError: Signal.REFUSED,
    RegistrationUnclearError: Signal.UNCLEAR,
    SocketLostError: Signal.SOCKET_LOST,
}
"""What an error of Register means to the lifecycle; any other may have had any effect."""


@attrs.frozen
class RegisterOnce:
    """Calls Register for one plugin, with the options that the plugin itself answers."""

    plugin: DevicePlugin
    registrar: Registrar
    seconds: float

    async def __call__(self, endpoint: str) -> tuple[Signal, str]:
        """Return the signal that the outcome is, and the reason if it failed."""
        registration = Registration(
            resource=self.plugin.resource, endpoint=endpoint, options=self.plugin.options
        )
        try:
            await self.registrar.register(registration, self.seconds)
        except RegistrationError as error:
            return _OUTCOMES.get(type(error), Signal.UNCLEAR), str(error)
        return Signal.ACCEPTED, ""
