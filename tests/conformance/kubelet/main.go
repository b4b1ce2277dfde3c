// A kubelet reduced to what a device plugin meets: the real device manager, plugin manager,
// topology manager and pod resources server of one Kubernetes release, driven line by line.
//
// A line on standard input is a command, {"id": 7, "do": "admit", ...}. Each is answered by one
// line, {"id": 7, "ok": ...} or {"id": 7, "error": "..."}, in the order in which they end. Between
// the answers are events, {"event": "...", ...}: what the kubelet writes into its log. The first
// command has to be "start". SIGKILL is how it ends, for a kubelet has no other way.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// What each command may say; those that a command does not need are left out.
type command struct {
	ID        int    `json:"id"`
	Do        string `json:"do"`
	Policy    string `json:"policy"`
	Nodes     []int  `json:"nodes"`
	Active    []pod  `json:"active"`
	Pod       pod    `json:"pod"`
	Container string `json:"container"`
	Resource  string `json:"resource"`
}

type answer struct {
	ID    int         `json:"id"`
	OK    interface{} `json:"ok"`
	Error string      `json:"error,omitempty"`
}

// Writes whole lines, from any goroutine.
type lines struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func (l *lines) write(line interface{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.encoder.Encode(line); err != nil {
		fmt.Fprintln(os.Stderr, "cannot answer:", err)
		os.Exit(1)
	}
}

func main() {
	out := &lines{encoder: json.NewEncoder(os.Stdout)}
	logTo(out)
	plane := &plane{}
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	for input.Scan() {
		var asked command
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			out.write(answer{ID: asked.ID, Error: err.Error()})
			continue
		}
		if asked.Do == "start" {
			reply(out, plane, asked)
		} else {
			go reply(out, plane, asked)
		}
	}
}

func reply(out *lines, plane *plane, asked command) {
	result, err := plane.do(asked)
	if err != nil {
		out.write(answer{ID: asked.ID, Error: err.Error()})
		return
	}
	out.write(answer{ID: asked.ID, OK: result})
}
