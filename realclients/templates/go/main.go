// Your Kafka producer under faultlab: the lab asks for operations on stdin, this program answers on stdout.
//
// client is all that you change: make Connect, Send and Close do what your service does. The package subject, copied
// beside it, speaks the subject protocol (docs/SUBJECT_PROTOCOL.md of faultlab).
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"faultlab/subject"

	"github.com/IBM/sarama"
)

func main() {
	os.Exit(subject.Main(&client{}))
}

type client struct {
	producer sarama.SyncProducer
}

// Check refuses what this program cannot do, before it says that it is ready.
func (c *client) Check(subject.Launch) error {
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.Lmicroseconds) // stderr is kept with the run
	return nil
}

// Connect makes the producer. Settings have Sarama's own full names (Net.DialTimeout).
func (c *client) Connect(launch subject.Launch, _ subject.Trace) error {
	configuration := sarama.NewConfig()
	configuration.Producer.Return.Successes = true
	configuration.Producer.RequiredAcks = sarama.WaitForAll
	if err := subject.Set(configuration, launch.Settings, nil); err != nil {
		return err
	}
	var err error
	c.producer, err = sarama.NewSyncProducer(launch.Bootstrap, configuration)
	return err
}

// Send returns when your caller would have an answer. It is called from several goroutines at once.
func (c *client) Send(asked subject.Message) (subject.Acknowledged, error) {
	message := &sarama.ProducerMessage{Topic: asked.Topic, Value: sarama.StringEncoder(asked.Value)}
	if asked.Key != nil {
		message.Key = sarama.StringEncoder(*asked.Key)
	}
	partition, offset, err := c.producer.SendMessage(message)
	return subject.Acknowledged{Partition: partition, Offset: offset}, err
}

func (c *client) Close() error {
	return c.producer.Close()
}

// ClassOf names an error, so that scenarios can tell one from another.
func (c *client) ClassOf(err error) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}
