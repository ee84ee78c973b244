// Sarama itself as faultlab's subject: its SyncProducer, or its AsyncProducer, driven over the subject protocol (docs/SUBJECT_PROTOCOL.md).
//
// One source for every release: releases/<version>.mod says which one is built. Its settings have Sarama's own full
// names; what the library logs goes to subject.Log; dials are traced through its own dialer hook.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"faultlab/subject"

	"github.com/IBM/sarama"
)

const module = "github.com/IBM/sarama"

func main() {
	os.Exit(subject.Main(&client{}))
}

type client struct {
	dials atomic.Int64
}

// Check refuses another release or library, and an unknown producer.
func (c *client) Check(launch subject.Launch) error {
	path, release := built()
	if launch.Version != "" && launch.Version != release {
		return fmt.Errorf("this program is sarama %s (%s), not %s %s", release, path, launch.Client, launch.Version)
	}
	if _, err := constructor(launch.Producer); err != nil {
		return err
	}
	sarama.Logger = log.New(subject.Log, "[sarama] ", log.Lmicroseconds)
	sarama.Logger.Printf("%s %s, %s", path, release, runtime.Version())
	return nil
}

// NoDeadline: nothing that a producer offers takes a context.
func (c *client) NoDeadline() map[string]string {
	return map[string]string{
		"connect": "Sarama's constructors take no context",
		"send":    "neither SendMessage nor Input takes a context",
		"close":   "Close takes no context",
	}
}

// Connect makes a producer with a client of its own, as Sarama's constructors do.
func (c *client) Connect(launch subject.Launch, trace subject.Trace) (subject.Producer, error) {
	configuration, err := configured(launch, trace, &c.dials)
	if err != nil {
		return nil, err
	}
	construct, err := constructor(launch.Producer)
	if err != nil {
		return nil, err
	}
	made, err := construct(launch.Bootstrap, configuration)
	return handle{made}, err
}

type handle struct{ producer }

func (h handle) Send(_ context.Context, wanted subject.Message) (subject.Acknowledged, error) {
	operation := &asked{partitionNamed: wanted.Partition != nil, ended: make(chan error, 1)}
	message := &sarama.ProducerMessage{Topic: wanted.Topic, Value: sarama.StringEncoder(wanted.Value), Metadata: operation}
	if wanted.Key != nil {
		message.Key = sarama.StringEncoder(*wanted.Key)
	}
	if wanted.Partition != nil {
		message.Partition = *wanted.Partition
	}
	err := h.send(message)
	return subject.Acknowledged{Partition: message.Partition, Offset: message.Offset}, err
}

func (h handle) Close() error { return h.close() }

// built is the module that the linker took, and its release: a fact of the program itself.
func built() (path string, release string) {
	information, _ := debug.ReadBuildInfo()
	for _, dependency := range information.Deps {
		if dependency.Path != module {
			continue
		}
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		return dependency.Path, strings.TrimPrefix(dependency.Version, "v")
	}
	return module, "unknown"
}
