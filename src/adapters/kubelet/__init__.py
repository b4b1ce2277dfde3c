"""The kubelet over gRPC: the device plugin protocol v1beta1, and nothing of it elsewhere."""
