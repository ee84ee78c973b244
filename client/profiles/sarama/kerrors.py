"""What a broker's error codes are called and say in each release.

Source: Shopify/sarama v1.27.2 errors.go, IBM/sarama v1.60.1 errors.go.
"""

from collections.abc import Mapping

# Code, identifier, text behind "kafka server: "; an indented line continues the one before.
_TABLE_1_27 = """
0 ErrNoError Not an error, why are you printing me?
-1 ErrUnknown Unexpected (unknown?) server error.
1 ErrOffsetOutOfRange The requested offset is outside the range of offsets maintained by the server for the given
    topic/partition.
2 ErrInvalidMessage Message contents does not match its CRC.
3 ErrUnknownTopicOrPartition Request was for a topic or partition that does not exist on this broker.
4 ErrInvalidMessageSize The message has a negative size.
5 ErrLeaderNotAvailable In the middle of a leadership election, there is currently no leader for this partition and
    hence it is unavailable for writes.
6 ErrNotLeaderForPartition Tried to send a message to a replica that is not the leader for some partition. Your metadata
    is out of date.
7 ErrRequestTimedOut Request exceeded the user-specified time limit in the request.
8 ErrBrokerNotAvailable Broker not available. Not a client facing error, we should never receive this!!!
9 ErrReplicaNotAvailable Replica information not available, one or more brokers are down.
10 ErrMessageSizeTooLarge Message was too large, server rejected it to avoid allocation error.
11 ErrStaleControllerEpochCode StaleControllerEpochCode (internal error code for broker-to-broker communication).
12 ErrOffsetMetadataTooLarge Specified a string larger than the configured maximum for offset metadata.
13 ErrNetworkException The server disconnected before a response was received.
14 ErrOffsetsLoadInProgress The broker is still loading offsets after a leader change for that offset's topic partition.
15 ErrConsumerCoordinatorNotAvailable Offset's topic has not yet been created.
16 ErrNotCoordinatorForConsumer Request was for a consumer group that is not coordinated by this broker.
17 ErrInvalidTopic The request attempted to perform an operation on an invalid topic.
18 ErrMessageSetSizeTooLarge The request included message batch larger than the configured segment size on the server.
19 ErrNotEnoughReplicas Messages are rejected since there are fewer in-sync replicas than required.
20 ErrNotEnoughReplicasAfterAppend Messages are written to the log, but to fewer in-sync replicas than required.
21 ErrInvalidRequiredAcks The number of required acks is invalid (should be either -1, 0, or 1).
22 ErrIllegalGeneration The provided generation id is not the current generation.
23 ErrInconsistentGroupProtocol The provider group protocol type is incompatible with the other members.
24 ErrInvalidGroupId The provided group id was empty.
25 ErrUnknownMemberId The provided member is not known in the current generation.
26 ErrInvalidSessionTimeout The provided session timeout is outside the allowed range.
27 ErrRebalanceInProgress A rebalance for the group is in progress. Please re-join the group.
28 ErrInvalidCommitOffsetSize The provided commit metadata was too large.
29 ErrTopicAuthorizationFailed The client is not authorized to access this topic.
30 ErrGroupAuthorizationFailed The client is not authorized to access this group.
31 ErrClusterAuthorizationFailed The client is not authorized to send this request type.
32 ErrInvalidTimestamp The timestamp of the message is out of acceptable range.
33 ErrUnsupportedSASLMechanism The broker does not support the requested SASL mechanism.
34 ErrIllegalSASLState Request is not valid given the current SASL state.
35 ErrUnsupportedVersion The version of API is not supported.
36 ErrTopicAlreadyExists Topic with this name already exists.
37 ErrInvalidPartitions Number of partitions is invalid.
38 ErrInvalidReplicationFactor Replication-factor is invalid.
39 ErrInvalidReplicaAssignment Replica assignment is invalid.
40 ErrInvalidConfig Configuration is invalid.
41 ErrNotController This is not the correct controller for this cluster.
42 ErrInvalidRequest This most likely occurs because of a request being malformed by the client library or the message
    was sent to an incompatible broker. See the broker logs for more details.
43 ErrUnsupportedForMessageFormat The requested operation is not supported by the message format version.
44 ErrPolicyViolation Request parameters do not satisfy the configured policy.
45 ErrOutOfOrderSequenceNumber The broker received an out of order sequence number.
46 ErrDuplicateSequenceNumber The broker received a duplicate sequence number.
47 ErrInvalidProducerEpoch Producer attempted an operation with an old epoch.
48 ErrInvalidTxnState The producer attempted a transactional operation in an invalid state.
49 ErrInvalidProducerIDMapping The producer attempted to use a producer id which is not currently assigned to its
    transactional id.
50 ErrInvalidTransactionTimeout The transaction timeout is larger than the maximum value allowed by the broker (as
    configured by max.transaction.timeout.ms).
51 ErrConcurrentTransactions The producer attempted to update a transaction while another concurrent operation on the
    same transaction was ongoing.
52 ErrTransactionCoordinatorFenced The transaction coordinator sending a WriteTxnMarker is no longer the current
    coordinator for a given producer.
53 ErrTransactionalIDAuthorizationFailed Transactional ID authorization failed.
54 ErrSecurityDisabled Security features are disabled.
55 ErrOperationNotAttempted The broker did not attempt to execute this operation.
56 ErrKafkaStorageError Disk error when trying to access log file on the disk.
57 ErrLogDirNotFound The specified log directory is not found in the broker config.
58 ErrSASLAuthenticationFailed SASL Authentication failed.
59 ErrUnknownProducerID The broker could not locate the producer metadata associated with the Producer ID.
60 ErrReassignmentInProgress A partition reassignment is in progress.
61 ErrDelegationTokenAuthDisabled Delegation Token feature is not enabled.
62 ErrDelegationTokenNotFound Delegation Token is not found on server.
63 ErrDelegationTokenOwnerMismatch Specified Principal is not valid Owner/Renewer.
64 ErrDelegationTokenRequestNotAllowed Delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on
    delegation token authenticated channels.
65 ErrDelegationTokenAuthorizationFailed Delegation Token authorization failed.
66 ErrDelegationTokenExpired Delegation Token is expired.
67 ErrInvalidPrincipalType Supplied principalType is not supported.
68 ErrNonEmptyGroup The group is not empty.
69 ErrGroupIDNotFound The group id does not exist.
70 ErrFetchSessionIDNotFound The fetch session ID was not found.
71 ErrInvalidFetchSessionEpoch The fetch session epoch is invalid.
72 ErrListenerNotFound There is no listener on the leader broker that matches the listener on which metadata request was
    processed.
73 ErrTopicDeletionDisabled Topic deletion is disabled.
74 ErrFencedLeaderEpoch The leader epoch in the request is older than the epoch on the broker.
75 ErrUnknownLeaderEpoch The leader epoch in the request is newer than the epoch on the broker.
76 ErrUnsupportedCompressionType The requesting client does not support the compression type of given partition.
77 ErrStaleBrokerEpoch Broker epoch has changed
78 ErrOffsetNotAvailable The leader high watermark has not caught up from a recent leader election so the offsets cannot
    be guaranteed to be monotonically increasing
79 ErrMemberIdRequired The group member needs to have a valid member id before actually entering a consumer group
80 ErrPreferredLeaderNotAvailable The preferred leader was not available
81 ErrGroupMaxSizeReached Consumer group The consumer group has reached its max size. already has the configured maximum
    number of members.
82 ErrFencedInstancedId The broker rejected this static consumer since another consumer with the same group.instance.id
    has registered with a different member.id.
"""

# What 1.60.1 has beside that, or says otherwise. It also ends no text with a stop.
_CHANGES_1_60 = """
14 ErrOffsetsLoadInProgress The coordinator is still loading offsets and cannot currently process requests
15 ErrConsumerCoordinatorNotAvailable The coordinator is not available
83 ErrEligibleLeadersNotAvailable Eligible topic partition leaders are not available
84 ErrElectionNotNeeded Leader election not needed for topic partition
85 ErrNoReassignmentInProgress No partition reassignment is in progress
86 ErrGroupSubscribedToTopic Deleting offsets of a topic is forbidden while the consumer group is actively subscribed
    to it
87 ErrInvalidRecord This record has failed the validation on broker and hence will be rejected
88 ErrUnstableOffsetCommit There are unstable offsets that need to be cleared
89 ErrThrottlingQuotaExceeded The throttling quota has been exceeded
95 ErrInvalidUpdateVersion The given update version was invalid
"""

KErrorEntry = tuple[str, str]
"""Identifier and text."""


def _parse_table(table: str) -> dict[int, KErrorEntry]:
    rows = {}
    for line in table.strip().replace("\n    ", " ").splitlines():
        code, name, text = line.split(" ", 2)
        rows[int(code)] = (name, f"kafka server: {text}")
    return rows


KERRORS_1_27: Mapping[int, KErrorEntry] = _parse_table(_TABLE_1_27)
KERRORS_1_60: Mapping[int, KErrorEntry] = {
    **{code: (name, text.rstrip(".")) for code, (name, text) in KERRORS_1_27.items()},
    **_parse_table(_CHANGES_1_60),
    90: ("ErrProducerFenced", "Unknown error, how did this happen? Error code = 90"),
}
CODES = {name: code for code, (name, _) in KERRORS_1_60.items()}
"""Kafka's error codes by Sarama's identifiers, which no release has changed."""
