"""gRPC errors as Go prints them: the kubelet puts this text into pods and answers."""

from typing import Final

import grpc

FAILURES: Final = (grpc.RpcError, grpc.FutureCancelledError, ValueError)
"""How a call fails: by the other side, or because our channel is closed."""
_CLOSED: Final = "rpc error: code = Canceled desc = grpc: the client connection is closing"
_IRREGULAR: Final = {"OK": "OK", "CANCELLED": "Canceled"}


def go_text(problem: Exception) -> str:
    """Return `rpc error: code = Internal desc = ...` for one of `FAILURES`."""
    if not isinstance(problem, grpc.Call):
        return _CLOSED
    return f"rpc error: code = {_camel(problem.code().name)} desc = {problem.details()}"


def _camel(name: str) -> str:
    return _IRREGULAR.get(name) or "".join(word.capitalize() for word in name.split("_"))
