package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"faultlab/subject"

	"github.com/IBM/sarama"
)

// configured is Sarama's own default configuration with the scenario's settings put in. What it means is left to the
// library: its Validate, called by the constructor, refuses what does not fit.
func configured(launch subject.Launch, trace subject.Trace, dials *atomic.Int64) (*sarama.Config, error) {
	for name := range launch.Settings {
		if strings.HasPrefix(name, "Net.Proxy.") {
			return nil, subject.SettingError{Text: name + " belongs to faultlab here: dials are watched through it"}
		}
	}
	configuration := sarama.NewConfig()
	// A SyncProducer demands both; around an AsyncProducer, the program reads both.
	configuration.Producer.Return.Successes = true
	configuration.Producer.Return.Errors = true
	if err := subject.Set(configuration, launch.Settings, words); err != nil {
		return nil, err
	}
	if err := secure(configuration, launch); err != nil {
		return nil, err
	}
	configuration.Producer.Partitioner = whereNamed(configuration.Producer.Partitioner)
	configuration.Net.Proxy.Enable = true
	configuration.Net.Proxy.Dialer = watched(configuration, trace, dials)
	return configuration, nil
}

// words are those that Sarama's own constants have in its documentation.
var words = map[reflect.Type]subject.Spelled{
	reflect.TypeFor[sarama.KafkaVersion]():   func(text string) (any, error) { return sarama.ParseKafkaVersion(text) },
	reflect.TypeFor[sarama.RequiredAcks]():   oneOf("NoResponse WaitForLocal WaitForAll", sarama.NoResponse, sarama.WaitForLocal, sarama.WaitForAll),
	reflect.TypeFor[sarama.IsolationLevel](): oneOf("ReadUncommitted ReadCommitted", sarama.ReadUncommitted, sarama.ReadCommitted),
	reflect.TypeFor[sarama.CompressionCodec](): oneOf("none gzip snappy lz4 zstd", sarama.CompressionNone, sarama.CompressionGZIP,
		sarama.CompressionSnappy, sarama.CompressionLZ4, sarama.CompressionZSTD),
	reflect.TypeFor[sarama.PartitionerConstructor](): oneOf("hash random roundrobin manual referencehash "+newerPartitionerNames,
		append([]sarama.PartitionerConstructor{sarama.NewHashPartitioner, sarama.NewRandomPartitioner, sarama.NewRoundRobinPartitioner,
			sarama.NewManualPartitioner, sarama.NewReferenceHashPartitioner}, newerPartitioners...)...),
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
