"""Messages and stubs that `make protos` generates from protos/.

Only the kubelet adapter and the fake kubelet may import them: a program that has generated the
same packages under another name cannot load these as well.
"""
