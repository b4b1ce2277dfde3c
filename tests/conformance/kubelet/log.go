package main

import (
	"flag"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// How much the kubelet tells: 2 is what clusters use.
const verbosity = 2

// Turns the kubelet's log into events. Only plain values are kept: others may be changing.
type sink struct{ out *lines }

func logTo(out *lines) {
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", "2"); err != nil {
		panic(err)
	}
	klog.SetLogger(logr.New(sink{out}))
}

func (s sink) Init(logr.RuntimeInfo)                  {}
func (s sink) Enabled(level int) bool                 { return level <= verbosity }
func (s sink) WithValues(...interface{}) logr.LogSink { return s }
func (s sink) WithName(string) logr.LogSink           { return s }

func (s sink) Info(_ int, message string, pairs ...interface{}) { s.tell(message, pairs) }

func (s sink) Error(err error, message string, pairs ...interface{}) {
	s.tell(message, append(pairs, "err", err))
}

func (s sink) tell(message string, pairs []interface{}) {
	event := map[string]interface{}{"event": message}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		switch value := pairs[i+1].(type) {
		case string, bool, int, int32, int64, uint64:
			event[key] = value
		case error:
			event[key] = value.Error()
		}
	}
	s.out.write(event)
}
