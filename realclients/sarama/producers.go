package main

import (
	"fmt"
	"sync"

	"github.com/IBM/sarama"
)

// producer is one of Sarama's, behind what a program does with it.
type producer interface {
	// send returns when the message's fate is known to the caller.
	send(message *sarama.ProducerMessage) error
	close() error
}

// constructors by the name that a scenario gives as client.producer.
var constructors = map[string]func(addresses []string, configuration *sarama.Config) (producer, error){
	"sync":  newSync,
	"async": newAsync,
}

// constructor is that of the name, nil meaning the usual one.
func constructor(name *string) (func([]string, *sarama.Config) (producer, error), error) {
	if name == nil {
		return newSync, nil
	}
	if made, found := constructors[*name]; found {
		return made, nil
	}
	return nil, fmt.Errorf("sarama has no producer %s, only sync and async", *name)
}

type syncProducer struct{ sarama.SyncProducer }

func newSync(addresses []string, configuration *sarama.Config) (producer, error) {
	made, err := sarama.NewSyncProducer(addresses, configuration)
	return syncProducer{made}, err
}

func (p syncProducer) send(message *sarama.ProducerMessage) error {
	_, _, err := p.SendMessage(message)
	return err
}

func (p syncProducer) close() error { return p.Close() }

// asyncProducer is a program around the AsyncProducer as its documentation shows one: it writes to Input and reads
// Successes and Errors, each on a goroutine of its own.
type asyncProducer struct {
	sarama.AsyncProducer
	reading sync.WaitGroup
}

func newAsync(addresses []string, configuration *sarama.Config) (producer, error) {
	made, err := sarama.NewAsyncProducer(addresses, configuration)
	if err != nil {
		return nil, err
	}
	p := &asyncProducer{AsyncProducer: made}
	p.reading.Add(2)
	go func() {
		defer p.reading.Done()
		for message := range made.Successes() {
			message.Metadata.(*asked).ended <- nil
		}
	}()
	go func() {
		defer p.reading.Done()
		for failed := range made.Errors() {
			failed.Msg.Metadata.(*asked).ended <- failed
		}
	}()
	return p, nil
}

// send returns the ProducerError, which says the topic and wraps the cause, as it comes out of Errors.
func (p *asyncProducer) send(message *sarama.ProducerMessage) error {
	p.Input() <- message
	return <-message.Metadata.(*asked).ended
}

func (p *asyncProducer) close() error {
	p.AsyncClose()
	p.reading.Wait()
	return nil
}

// asked is what a message carries of the operation that it belongs to.
type asked struct {
	partitionNamed bool
	ended          chan error
}
