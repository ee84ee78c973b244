package main

import (
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"

	"faultlab/subject"

	"github.com/segmentio/kafka-go"
)

// producers by the name that a scenario gives as client.producer. Each returns what a handle stands for.
var producers = map[string]func(*client, subject.Launch, subject.Trace) (subject.Producer, error){
	"Writer":    writing(configuredWriter),
	"NewWriter": writing(configuredNewWriter),
	"Dialer":    newDialing,
}

// configuration returns what makes a writer of a topic, and the Transport that all of these writers share, if they do.
type configuration = func(*client, subject.Launch, subject.Trace) (func(string) (*kafka.Writer, error), *kafka.Transport, error)

// producerOf is that of the name, nil meaning the usual one.
func producerOf(name *string) (func(*client, subject.Launch, subject.Trace) (subject.Producer, error), error) {
	if name == nil {
		return producers["Writer"], nil
	}
	if found, known := producers[*name]; known {
		return found, nil
	}
	return nil, fmt.Errorf("kafka-go has no producer %s, only Writer, NewWriter and Dialer", *name)
}

// writerSettings are what a program sets that builds Writer{} on a Transport of its own. NetDialer is what the
// Transport's Dial is made of; its Timeout is that of DefaultTransport.
type writerSettings struct {
	Writer    kafka.Writer
	Transport kafka.Transport
	NetDialer net.Dialer
}

func newWriterSettings() *writerSettings {
	return &writerSettings{NetDialer: net.Dialer{Timeout: kafkaDialTimeout}}
}

func configuredWriter(c *client, launch subject.Launch, trace subject.Trace) (func(string) (*kafka.Writer, error), *kafka.Transport, error) {
	if err := subject.Set(newWriterSettings(), launch.Settings, words); err != nil {
		return nil, nil, err
	}
	transport := c.sharedTransport(launch, trace)
	return func(topic string) (*kafka.Writer, error) {
		made := newWriterSettings()
		if err := subject.Set(made, launch.Settings, words); err != nil {
			return nil, err
		}
		made.Writer.Addr = kafka.TCP(launch.Bootstrap...)
		made.Writer.Topic = topic
		made.Writer.Transport = transport
		made.Writer.ErrorLogger = errorLog
		if made.Writer.Balancer == nil {
			made.Writer.Balancer = &kafka.RoundRobin{} // as the library does, so that ours can stand before it
		}
		return &made.Writer, nil
	}, transport, nil
}

// sharedTransport is the one Transport of every Writer{}, as DefaultTransport would be, until there is a new one.
func (c *client) sharedTransport(launch subject.Launch, trace subject.Trace) *kafka.Transport {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.transport == nil {
		made := newWriterSettings()
		if err := subject.Set(made, launch.Settings, words); err != nil {
			panic(err) // the caller has set them before
		}
		made.Transport.Dial = c.watched(made.NetDialer.DialContext, trace)
		c.transport = &made.Transport
	}
	return c.transport
}

// deprecatedSettings are what a program sets that calls NewWriter. The Dialer's Timeout is DefaultDialer's.
type deprecatedSettings struct {
	WriterConfig kafka.WriterConfig
	Dialer       kafka.Dialer
}

func configuredNewWriter(c *client, launch subject.Launch, trace subject.Trace) (func(string) (*kafka.Writer, error), *kafka.Transport, error) {
	made := &deprecatedSettings{Dialer: *kafka.DefaultDialer}
	if err := subject.Set(made, launch.Settings, dialerWords()); err != nil {
		return nil, nil, err
	}
	return func(topic string) (*kafka.Writer, error) {
		configuration := made.WriterConfig
		configuration.Brokers = launch.Bootstrap
		configuration.Topic = topic
		configuration.Dialer = &made.Dialer
		configuration.ErrorLogger = errorLog
		if err := configuration.Validate(); err != nil {
			return nil, err // NewWriter panics with it
		}
		writer := kafka.NewWriter(configuration)
		transport := writer.Transport.(*kafka.Transport)
		transport.Dial = c.watched(transport.Dial, trace)
		return writer, nil
	}, nil, nil
}

// words are those that the library's own constants have in its documentation.
var words = map[reflect.Type]subject.Spelled{
	reflect.TypeFor[kafka.RequiredAcks](): oneOf("none one all", kafka.RequireNone, kafka.RequireOne, kafka.RequireAll),
	reflect.TypeFor[kafka.Compression]():  oneOf("none gzip snappy lz4 zstd", kafka.Compression(0), kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd),
	reflect.TypeFor[kafka.Balancer]():     balancerNamed,
}

func oneOf[Value any](names string, values ...Value) subject.Spelled {
	known := strings.Fields(names)
	return func(text string) (any, error) {
		place := slices.Index(known, text)
		if place < 0 {
			return nil, fmt.Errorf("is one of %s, not %q", strings.Join(known, ", "), text)
		}
		return values[place], nil
	}
}
