// Your Kafka producer under faultlab: the lab asks for operations on stdin, this program answers on stdout.
//
// client and producer are all that you change: make Connect, Send and Close do what your service does. The package
// subject, copied beside it, speaks the subject protocol (docs/SUBJECT_PROTOCOL.md of faultlab).
package main

import (
	"context"
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

type client struct{}

// Check refuses what this program cannot do, before it says that it is ready.
func (*client) Check(subject.Launch) error {
	sarama.Logger = log.New(subject.Log, "[sarama] ", log.Lmicroseconds) // kept with the run
	return nil
}

// NoDeadline names the operations for which a scenario's `deadline:` means nothing, and why.
func (*client) NoDeadline() map[string]string {
	return map[string]string{"send": "SendMessage takes no context"}
}

// Connect makes a producer. Settings have Sarama's own full names (Net.DialTimeout).
func (*client) Connect(launch subject.Launch, _ subject.Trace) (subject.Producer, error) {
	configuration := sarama.NewConfig()
	configuration.Producer.Return.Successes = true
	configuration.Producer.RequiredAcks = sarama.WaitForAll
	if err := subject.Set(configuration, launch.Settings, nil); err != nil {
		return nil, err
	}
	made, err := sarama.NewSyncProducer(launch.Bootstrap, configuration)
	return &producer{made}, err
}

// ClassOf names an error, so that scenarios can tell one from another.
func (*client) ClassOf(err error) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

type producer struct{ sarama.SyncProducer }

// Send returns when your caller would have an answer. It is called from several goroutines at once.
func (p *producer) Send(_ context.Context, asked subject.Message) (subject.Acknowledged, error) {
	message := &sarama.ProducerMessage{Topic: asked.Topic, Value: sarama.StringEncoder(asked.Value)}
	if asked.Key != nil {
		message.Key = sarama.StringEncoder(*asked.Key)
	}
	partition, offset, err := p.SendMessage(message)
	return subject.Acknowledged{Partition: partition, Offset: offset}, err
}
