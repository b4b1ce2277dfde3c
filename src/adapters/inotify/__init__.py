"""Watching files through the kernel's inotify."""
