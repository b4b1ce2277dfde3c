"""Speed and size, as ratios measured in one run against the barest servers there can be."""
