// Sarama itself as faultlab's subject: a SyncProducer driven over the subject protocol (docs/SUBJECT_PROTOCOL.md).
//
// One source for every release: releases/<version>.mod says which one is built. Its settings have Sarama's own full
// names; what the library logs goes to stderr; dials are traced through its own dialer hook.
package main

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"faultlab/subject"

	"github.com/IBM/sarama"
)

const module = "github.com/IBM/sarama"

func main() {
	os.Exit(subject.Main(&client{}))
}

type client struct {
	producer sarama.SyncProducer
}

// Check refuses the name or release of another library.
func (c *client) Check(launch subject.Launch) error {
	path, release := built()
	if launch.Version != "" && launch.Version != release {
		return fmt.Errorf("this program is sarama %s (%s), not %s %s", release, path, launch.Client, launch.Version)
	}
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.Lmicroseconds)
	sarama.Logger.Printf("%s %s, %s", path, release, runtime.Version())
	return nil
}

func (c *client) Connect(launch subject.Launch, trace subject.Trace) error {
	configuration, err := configured(launch.Settings, trace)
	if err != nil {
		return err
	}
	c.producer, err = sarama.NewSyncProducer(launch.Bootstrap, configuration)
	return err
}

func (c *client) Send(asked subject.Message) (subject.Acknowledged, error) {
	message := &sarama.ProducerMessage{Topic: asked.Topic, Value: sarama.StringEncoder(asked.Value)}
	if asked.Key != nil {
		message.Key = sarama.StringEncoder(*asked.Key)
	}
	if asked.Partition != nil {
		message.Partition, message.Metadata = *asked.Partition, named{}
	}
	partition, offset, err := c.producer.SendMessage(message)
	return subject.Acknowledged{Partition: partition, Offset: offset}, err
}

func (c *client) Close() error {
	return c.producer.Close()
}

// built is the module that the linker took, and its release: a fact of the program, not of whoever built it.
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
