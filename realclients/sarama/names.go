package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"
)

// sentinels are Sarama's error values by their identifiers, in the order in which an error is compared with them.
var sentinels = append([]sentinel{
	{"ErrOutOfBrokers", sarama.ErrOutOfBrokers},
	{"ErrClosedClient", sarama.ErrClosedClient},
	{"ErrIncompleteResponse", sarama.ErrIncompleteResponse},
	{"ErrInvalidPartition", sarama.ErrInvalidPartition},
	{"ErrAlreadyConnected", sarama.ErrAlreadyConnected},
	{"ErrNotConnected", sarama.ErrNotConnected},
	{"ErrInsufficientData", sarama.ErrInsufficientData},
	{"ErrShuttingDown", sarama.ErrShuttingDown},
	{"ErrMessageTooLarge", sarama.ErrMessageTooLarge},
	{"ErrControllerNotAvailable", sarama.ErrControllerNotAvailable},
	{"ErrNoTopicsToUpdateMetadata", sarama.ErrNoTopicsToUpdateMetadata},
	{"breaker.ErrBreakerOpen", breaker.ErrBreakerOpen},
}, newerSentinels...)

type sentinel struct {
	name  string
	value error
}

// ClassOf is the identifier that users search for: a sentinel's or a broker's error code before the type of what is
// inside, as the library itself wraps one in the other.
func (c *client) ClassOf(err error) string {
	var failed *sarama.ProducerError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	for _, known := range sentinels {
		if errors.Is(err, known.value) {
			return known.name
		}
	}
	var answered sarama.KError
	if errors.As(err, &answered) {
		return answeredName(answered)
	}
	var operation *net.OpError
	switch {
	case errors.As(err, &operation):
		return "net.OpError"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "io.ErrUnexpectedEOF"
	case errors.Is(err, io.EOF):
		return "io.EOF"
	}
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", err), "*"), "sarama.")
}

func answeredName(code sarama.KError) string {
	names := append(strings.Fields(answeredNames), newerAnsweredNames...)
	if place := int(code) + 1; place >= 0 && place < len(names) {
		return names[place]
	}
	return "KError"
}

// answeredNames are the identifiers of Kafka's error codes, from -1 on.
const answeredNames = `
ErrUnknown ErrNoError ErrOffsetOutOfRange ErrInvalidMessage ErrUnknownTopicOrPartition ErrInvalidMessageSize
ErrLeaderNotAvailable ErrNotLeaderForPartition ErrRequestTimedOut ErrBrokerNotAvailable
ErrReplicaNotAvailable ErrMessageSizeTooLarge ErrStaleControllerEpochCode ErrOffsetMetadataTooLarge
ErrNetworkException ErrOffsetsLoadInProgress ErrConsumerCoordinatorNotAvailable ErrNotCoordinatorForConsumer
ErrInvalidTopic ErrMessageSetSizeTooLarge ErrNotEnoughReplicas ErrNotEnoughReplicasAfterAppend
ErrInvalidRequiredAcks ErrIllegalGeneration ErrInconsistentGroupProtocol ErrInvalidGroupId
ErrUnknownMemberId ErrInvalidSessionTimeout ErrRebalanceInProgress ErrInvalidCommitOffsetSize
ErrTopicAuthorizationFailed ErrGroupAuthorizationFailed ErrClusterAuthorizationFailed ErrInvalidTimestamp
ErrUnsupportedSASLMechanism ErrIllegalSASLState ErrUnsupportedVersion ErrTopicAlreadyExists
ErrInvalidPartitions ErrInvalidReplicationFactor ErrInvalidReplicaAssignment ErrInvalidConfig
ErrNotController ErrInvalidRequest ErrUnsupportedForMessageFormat ErrPolicyViolation
ErrOutOfOrderSequenceNumber ErrDuplicateSequenceNumber ErrInvalidProducerEpoch ErrInvalidTxnState
ErrInvalidProducerIDMapping ErrInvalidTransactionTimeout ErrConcurrentTransactions
ErrTransactionCoordinatorFenced ErrTransactionalIDAuthorizationFailed ErrSecurityDisabled
ErrOperationNotAttempted ErrKafkaStorageError ErrLogDirNotFound ErrSASLAuthenticationFailed
ErrUnknownProducerID ErrReassignmentInProgress ErrDelegationTokenAuthDisabled ErrDelegationTokenNotFound
ErrDelegationTokenOwnerMismatch ErrDelegationTokenRequestNotAllowed ErrDelegationTokenAuthorizationFailed
ErrDelegationTokenExpired ErrInvalidPrincipalType ErrNonEmptyGroup ErrGroupIDNotFound
ErrFetchSessionIDNotFound ErrInvalidFetchSessionEpoch ErrListenerNotFound ErrTopicDeletionDisabled
ErrFencedLeaderEpoch ErrUnknownLeaderEpoch ErrUnsupportedCompressionType ErrStaleBrokerEpoch
ErrOffsetNotAvailable ErrMemberIdRequired ErrPreferredLeaderNotAvailable ErrGroupMaxSizeReached
ErrFencedInstancedId
`
