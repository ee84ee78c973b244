package main

import "github.com/IBM/sarama"

// partitioner is Sarama's ManualPartitioner for a message that names its partition, and the configured one for others.
type partitioner struct {
	manual sarama.Partitioner
	other  sarama.Partitioner
}

func whereNamed(other sarama.PartitionerConstructor) sarama.PartitionerConstructor {
	return func(topic string) sarama.Partitioner {
		return &partitioner{manual: sarama.NewManualPartitioner(topic), other: other(topic)}
	}
}

func (p *partitioner) of(message *sarama.ProducerMessage) sarama.Partitioner {
	if operation, ok := message.Metadata.(*asked); ok && operation.partitionNamed {
		return p.manual
	}
	return p.other
}

func (p *partitioner) Partition(message *sarama.ProducerMessage, count int32) (int32, error) {
	return p.of(message).Partition(message, count)
}

func (p *partitioner) RequiresConsistency() bool {
	return p.other.RequiresConsistency()
}

// MessageRequiresConsistency asks as Sarama asks: the message's own need where the partitioner can tell.
func (p *partitioner) MessageRequiresConsistency(message *sarama.ProducerMessage) bool {
	chosen := p.of(message)
	if dynamic, ok := chosen.(sarama.DynamicConsistencyPartitioner); ok {
		return dynamic.MessageRequiresConsistency(message)
	}
	return chosen.RequiresConsistency()
}
