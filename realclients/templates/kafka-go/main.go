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
	"sync"

	"faultlab/subject"

	"github.com/segmentio/kafka-go"
)

func main() {
	os.Exit(subject.Main(&client{}))
}

type client struct{}

// Check refuses what this program cannot do, before it says that it is ready.
func (*client) Check(subject.Launch) error {
	return nil
}

// NoDeadline names the operations for which a scenario's `deadline:` means nothing, and why.
func (*client) NoDeadline() map[string]string {
	return map[string]string{"connect": "a Writer connects when it sends", "close": "Close takes no context"}
}

// configuration is what a scenario can set, by the library's own names: Writer.WriteTimeout, Transport.DialTimeout.
type configuration struct {
	Writer    kafka.Writer
	Transport kafka.Transport
}

// Connect makes a Writer on a Transport of its own.
func (*client) Connect(launch subject.Launch, _ subject.Trace) (subject.Producer, error) {
	configured := &configuration{}
	writer := &configured.Writer
	writer.RequiredAcks = kafka.RequireAll
	if err := subject.Set(configured, launch.Settings, nil); err != nil {
		return nil, err
	}
	writer.Addr = kafka.TCP(launch.Bootstrap...)
	writer.Transport = &configured.Transport
	writer.ErrorLogger = log.New(subject.Log, "[kafka-go] ", log.Lmicroseconds) // kept with the run
	made := &producer{writer: writer}
	writer.Completion = made.completed
	return made, nil
}

// ClassOf names an error, so that scenarios can tell one from another.
func (*client) ClassOf(err error) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

// producer knows where messages are, which WriteMessages does not return: Completion tells, before it does.
type producer struct {
	writer  *kafka.Writer
	written sync.Map // subject.Acknowledged by the address of the message's value
}

func (p *producer) completed(messages []kafka.Message, err error) {
	for _, one := range messages {
		if err == nil {
			p.written.Store(identity(one), subject.Acknowledged{Partition: int32(one.Partition), Offset: one.Offset})
		}
	}
}

// Send returns when your caller would have an answer. It is called from several goroutines at once.
func (p *producer) Send(ctx context.Context, asked subject.Message) (subject.Acknowledged, error) {
	value := append(make([]byte, 0, len(asked.Value)+1), asked.Value...) // has an address also where it is empty
	message := kafka.Message{Topic: asked.Topic, Value: value}
	if asked.Key != nil {
		message.Key = []byte(*asked.Key)
	}
	err := p.writer.WriteMessages(ctx, message)
	found, _ := p.written.LoadAndDelete(identity(message))
	where, _ := found.(subject.Acknowledged)
	return where, err
}

func identity(message kafka.Message) *byte { return &message.Value[:1][0] }

func (p *producer) Close() error {
	return p.writer.Close()
}
