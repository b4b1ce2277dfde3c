"""The kubelet's three protocols over gRPC: device plugin, registration, pod resources."""
