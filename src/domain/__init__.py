"""Values, rules and ports: everything that is true of device plugins without any I/O.

Needs attrs and pure parts of the standard library, nothing else: another tool can embed it.
"""
