//go:build !v1_27_2

package main

import (
	"strings"

	"github.com/IBM/sarama"
)

// newerSentinels came after 1.27.2.
var newerSentinels = []sentinel{
	{"ErrBrokerNotFound", sarama.ErrBrokerNotFound},
	{"ErrProducerRetryBufferOverflow", sarama.ErrProducerRetryBufferOverflow},
	{"ErrTransactionNotReady", sarama.ErrTransactionNotReady},
	{"ErrNonTransactedProducer", sarama.ErrNonTransactedProducer},
	{"ErrTransitionNotAllowed", sarama.ErrTransitionNotAllowed},
	{"ErrCannotTransitionNilError", sarama.ErrCannotTransitionNilError},
	{"ErrTxnUnableToParseResponse", sarama.ErrTxnUnableToParseResponse},
	{"ErrAddPartitionsToTxn", sarama.ErrAddPartitionsToTxn},
	{"ErrTxnOffsetCommit", sarama.ErrTxnOffsetCommit},
	{"ErrUnknownScramMechanism", sarama.ErrUnknownScramMechanism},
}

var newerAnsweredNames = strings.Fields(`
ErrEligibleLeadersNotAvailable ErrElectionNotNeeded ErrNoReassignmentInProgress ErrGroupSubscribedToTopic
ErrInvalidRecord ErrUnstableOffsetCommit ErrThrottlingQuotaExceeded ErrProducerFenced
`)

// newerPartitionerNames are those of newerPartitioners, in their order.
const newerPartitionerNames = "consistentcrchash murmur2"

var newerPartitioners = []sarama.PartitionerConstructor{sarama.NewConsistentCRCHashPartitioner, sarama.NewMurmur2Partitioner}
