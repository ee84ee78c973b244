package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"faultlab/subject"

	"github.com/segmentio/kafka-go"
)

// Operations of a Client on the Transport of a handle's Writers, one that gives later handles another, and those of a
// Dialer.
func (c *client) Operations() map[string]subject.Operation {
	return map[string]subject.Operation{
		"close_idle":        on((*producer).closeIdle),
		"create_topics":     onTopic((*producer).createTopics),
		"list_offsets":      onTopic((*producer).listOffsets),
		"new_transport":     on((*producer).newTransport),
		"dial":              on((*dialing).dial),
		"dial_leader":       onTopic((*dialing).dialLeader),
		"dial_partition":    onTopic((*dialing).dialPartition),
		"lookup_leader":     onTopic((*dialing).lookupLeader),
		"lookup_partition":  onTopic((*dialing).lookupPartition),
		"lookup_partitions": onTopic((*dialing).lookupPartitions),
	}
}

type arguments struct {
	Topic       string  `json:"topic"`
	Partitions  int     `json:"partitions"`
	Replication int     `json:"replication"`
	Partition   int     `json:"partition"`
	Address     *string `json:"address"`
}

func (asked arguments) place() place { return place{asked.Topic, asked.Partition} }

// on makes an operation of a method of what some handles stand for. Other handles refuse it.
func on[Handle subject.Producer](carryOut func(Handle, context.Context, arguments) (map[string]any, error)) subject.Operation {
	return func(ctx context.Context, made subject.Producer, command []byte) (map[string]any, error) {
		held, fits := made.(Handle)
		if !fits {
			return nil, subject.CommandError{Text: fmt.Sprintf("a %T cannot do that", made)}
		}
		asked := arguments{Partitions: 1, Replication: 1}
		if err := json.Unmarshal(command, &asked); err != nil {
			return nil, subject.CommandError{Text: err.Error()}
		}
		if asked.Partition < 0 {
			return nil, subject.CommandError{Text: "partition is no number from 0"}
		}
		return carryOut(held, ctx, asked)
	}
}

// onTopic is on, for what is about a topic.
func onTopic[Handle subject.Producer](carryOut func(Handle, context.Context, arguments) (map[string]any, error)) subject.Operation {
	return on(func(held Handle, ctx context.Context, asked arguments) (map[string]any, error) {
		if asked.Topic == "" {
			return nil, subject.CommandError{Text: "topic is missing"}
		}
		return carryOut(held, ctx, asked)
	})
}

// transport is that of the handle's Writers: the one that they share with others, or NewWriter's own.
func (p *producer) transport() (*kafka.Transport, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.topics) > 0 {
		return p.writers[p.topics[0]].Transport.(*kafka.Transport), nil
	}
	if p.shared == nil {
		return nil, subject.CommandError{Text: "a Writer of v0.4.8 is made with its first message"}
	}
	return p.shared, nil
}

func (p *producer) kafkaClient() (*kafka.Client, error) {
	transport, err := p.transport()
	return &kafka.Client{Addr: kafka.TCP(p.addresses...), Transport: transport}, err
}

func (p *producer) closeIdle(context.Context, arguments) (map[string]any, error) {
	transport, err := p.transport()
	if err == nil {
		transport.CloseIdleConnections()
	}
	return nil, err
}

// newTransport is for Writers that are made later.
func (p *producer) newTransport(context.Context, arguments) (map[string]any, error) {
	if p.shared == nil {
		return nil, subject.CommandError{Text: "NewWriter makes a Transport for each Writer"}
	}
	p.client.mutex.Lock()
	defer p.client.mutex.Unlock()
	p.client.transport = nil
	return nil, nil
}

func (p *producer) createTopics(ctx context.Context, asked arguments) (map[string]any, error) {
	client, err := p.kafkaClient()
	if err != nil {
		return nil, err
	}
	topic := kafka.TopicConfig{Topic: asked.Topic, NumPartitions: asked.Partitions, ReplicationFactor: asked.Replication}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}})
	if err != nil {
		return nil, err
	}
	return nil, created.Errors[asked.Topic]
}

// listOffsets answers with the last offset of each partition, or its error: `0:5 1:LeaderNotAvailable`.
func (p *producer) listOffsets(ctx context.Context, asked arguments) (map[string]any, error) {
	client, err := p.kafkaClient()
	if err != nil {
		return nil, err
	}
	var wanted []kafka.OffsetRequest
	for partition := range asked.Partitions {
		wanted = append(wanted, kafka.LastOffsetOf(partition))
	}
	listed, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{asked.Topic: wanted}})
	if err != nil {
		return nil, err
	}
	found := listed.Topics[asked.Topic]
	slices.SortFunc(found, func(a, b kafka.PartitionOffsets) int { return a.Partition - b.Partition })
	texts := make([]string, len(found))
	for index, one := range found {
		texts[index] = fmt.Sprintf("%d:%d", one.Partition, one.LastOffset)
		if one.Error != nil {
			texts[index] = fmt.Sprintf("%d:%s", one.Partition, classOf(one.Error))
		}
	}
	return map[string]any{"offsets": strings.Join(texts, " ")}, nil
}
