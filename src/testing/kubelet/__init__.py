"""A kubelet to test against: real gRPC on a real socket, every era and quirk."""
