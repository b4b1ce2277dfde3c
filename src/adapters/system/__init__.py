"""What any operating system offers: clock, files, randomness."""
