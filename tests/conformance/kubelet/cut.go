package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Breaks the connections from the kubelet to plugins, which both ends see as a reset: the kubelet
// lives on, no file changes. Returns how many there were.
func cut() (int, error) {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, err
	}
	broken := 0
	for _, each := range open {
		fd, _ := strconv.Atoi(each.Name())
		peer, err := syscall.Getpeername(fd)
		if err != nil {
			continue // no socket, or not connected
		}
		// What a plugin listens on has a name; who connects to the kubelet has none.
		if unix, ok := peer.(*syscall.SockaddrUnix); ok && strings.HasPrefix(unix.Name, kubeletDir) {
			if err := syscall.Shutdown(fd, syscall.SHUT_RDWR); err == nil {
				broken++
			}
		}
	}
	return broken, nil
}
