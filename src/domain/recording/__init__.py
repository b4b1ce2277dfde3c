"""What a scan read of a machine, to be looked at elsewhere: entries of a tree, and masks."""
