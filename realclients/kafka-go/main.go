// kafka-go itself as faultlab's subject: its Writer on a Transport, and its Dialer, driven over the subject protocol (docs/SUBJECT_PROTOCOL.md).
//
// One source for every release: releases/<version>.mod says which one is built. Settings have the library's own names;
// what it logs goes to subject.Log; dials are traced through the Transport's Dial.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"faultlab/subject"

	"github.com/segmentio/kafka-go"
)

const module = "github.com/segmentio/kafka-go"

var errorLog = log.New(subject.Log, "[kafka-go] ", log.Lmicroseconds)

func main() {
	os.Exit(subject.Main(&client{}))
}

type client struct {
	dials atomic.Int64

	mutex     sync.Mutex
	transport *kafka.Transport // of every Writer{} from now on, made by the first; those of NewWriter have their own
}

// Check refuses another release or library, and an unknown producer.
func (c *client) Check(launch subject.Launch) error {
	release := built()
	if launch.Version != "" && launch.Version != release {
		return fmt.Errorf("this program is kafka-go %s, not %s %s", release, launch.Client, launch.Version)
	}
	if _, err := producerOf(launch.Producer); err != nil {
		return err
	}
	errorLog.Printf("%s %s, %s", module, release, runtime.Version())
	return nil
}

// NoDeadline: WriteMessages takes a context, the rest does not.
func (c *client) NoDeadline() map[string]string {
	return map[string]string{
		"connect":       "neither Writer{} nor NewWriter nor Dialer{} takes a context",
		"close":         "Close takes no context",
		"close_idle":    "CloseIdleConnections takes no context",
		"new_transport": "a Transport is made without a context",
	}
}

func (c *client) Connect(launch subject.Launch, trace subject.Trace) (subject.Producer, error) {
	made, err := producerOf(launch.Producer)
	if err != nil {
		return nil, err
	}
	return made(c, launch, trace)
}

// writing makes a producer of the way in which a program configures its Writers.
func writing(configure configuration) func(*client, subject.Launch, subject.Trace) (subject.Producer, error) {
	return func(c *client, launch subject.Launch, trace subject.Trace) (subject.Producer, error) {
		newWriter, shared, err := configure(c, launch, trace)
		if err != nil {
			return nil, err
		}
		made := &producer{client: c, addresses: launch.Bootstrap, newWriter: newWriter, shared: shared, trace: trace}
		if topicsOfMessages {
			_, err = made.writer("")
		}
		return made, err
	}
}

// built is the release that the linker took: a fact of the program itself.
func built() string {
	information, _ := debug.ReadBuildInfo()
	for _, dependency := range information.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

// producer is what a handle stands for. A Writer of v0.4.8 has one topic, so that there is one for each topic there;
// later ones take the topic of the message, and there is one, under the name "".
type producer struct {
	client    *client
	addresses []string
	newWriter func(topic string) (*kafka.Writer, error)
	shared    *kafka.Transport // nil where each Writer has one of its own
	trace     subject.Trace

	mutex   sync.Mutex
	writers map[string]*kafka.Writer
	topics  []string // in the order in which their writers were made
	asked   sync.Map // what was asked of a message, by the address of its value
}

func (p *producer) writer(topic string) (*kafka.Writer, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if known := p.writers[topic]; known != nil {
		return known, nil
	}
	made, err := p.newWriter(topic)
	if err != nil {
		return nil, err
	}
	made.Balancer = &balancer{asked: &p.asked, other: made.Balancer}
	made.Completion = p.completed
	if p.writers == nil {
		p.writers = map[string]*kafka.Writer{}
	}
	p.writers[topic] = made
	p.topics = append(p.topics, topic)
	return made, nil
}

// asked is what a message carries of the operation that it belongs to, beside what the library looks at.
type asked struct {
	partition *int32
	written   *subject.Acknowledged // nil until a broker has confirmed it
}

func (p *producer) Send(ctx context.Context, wanted subject.Message) (subject.Acknowledged, error) {
	topic, message := wanted.Topic, kafka.Message{Value: identified(wanted.Value)}
	if topicsOfMessages {
		topic, message.Topic = "", wanted.Topic
	}
	if wanted.Key != nil {
		message.Key = []byte(*wanted.Key)
	}
	writer, err := p.writer(topic)
	if err != nil {
		return subject.Acknowledged{}, err
	}
	operation := &asked{partition: wanted.Partition}
	p.asked.Store(identity(message), operation)
	if err := writer.WriteMessages(ctx, message); err != nil {
		return subject.Acknowledged{}, err
	}
	if writer.Async || operation.written == nil {
		return subject.Acknowledged{Unconfirmed: true}, nil
	}
	return *operation.written, nil
}

// completed is the Writer's Completion: the library calls it before it wakes those who wait for the batch.
func (p *producer) completed(messages []kafka.Message, err error) {
	for _, message := range messages {
		found, known := p.asked.LoadAndDelete(identity(message))
		if !known {
			continue
		}
		if err == nil && p.confirmed() {
			found.(*asked).written = &subject.Acknowledged{Partition: int32(message.Partition), Offset: message.Offset}
		}
	}
	outcome := map[string]any{"purpose": "completion", "outcome": "written"}
	if err != nil {
		outcome["outcome"] = "failed"
	}
	p.trace("state", outcome)
}

// confirmed says whether brokers answer at all.
func (p *producer) confirmed() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.topics) > 0 && p.writers[p.topics[0]].RequiredAcks != kafka.RequireNone
}

// Close closes its writers. The Transport of a Writer{} stays: others use it.
func (p *producer) Close() error {
	p.mutex.Lock()
	topics := p.topics
	p.mutex.Unlock()
	for _, topic := range topics {
		if err := p.writers[topic].Close(); err != nil {
			return err
		}
	}
	return nil
}

// identified is a value that has an address of its own, also where it is empty. The library keeps its bytes as they are.
func identified(value string) []byte {
	return append(make([]byte, 0, len(value)+1), value...)
}

func identity(message kafka.Message) *byte { return &message.Value[:1][0] }
