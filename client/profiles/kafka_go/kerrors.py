"""Kafka's error codes in kafka-go's words: title, description, and which of them are temporary.

Source: segmentio/kafka-go v0.4.8 and v0.4.50 error.go. Codes without a title have none there.
"""

from collections.abc import Mapping
from typing import NamedTuple


class KErrorEntry(NamedTuple):
    """What Title(), Description() and Temporary() return."""

    title: str
    description: str
    temporary: bool


# A line is a code, its title and, behind the stroke, its description.
_TABLE = """
-1 Unknown | an unexpected server error occurred
1 Offset Out Of Range | the requested offset is outside the range of offsets maintained by the server for the given
    topic/partition
2 Invalid Message | the message contents does not match its CRC
3 Unknown Topic Or Partition | the request is for a topic or partition that does not exist on this broker
4 Invalid Message Size | the message has a negative size
5 Leader Not Available | the cluster is in the middle of a leadership election and there is currently no leader for
    this partition and hence it is unavailable for writes
6 Not Leader For Partition | the client attempted to send messages to a replica that is not the leader for some
    partition, the client's metadata are likely out of date
7 Request Timed Out | the request exceeded the user-specified time limit in the request
8 Broker Not Available | not a client facing error and is used mostly by tools when a broker is not alive
9 Replica Not Available | a replica is expected on a broker, but is not (this can be safely ignored)
10 Message Size Too Large | the server has a configurable maximum message size to avoid unbounded memory allocation
    and the client attempted to produce a message larger than this maximum
11 Stale Controller Epoch | internal error code for broker-to-broker communication
12 Offset Metadata Too Large | the client specified a string larger than configured maximum for offset metadata
13  |
14 Group Load In Progress | the broker returns this error code for an offset fetch request if it is still loading
    offsets (after a leader change for that offsets topic partition), or in response to group membership requests
    (such as heartbeats) when group metadata is being loaded by the coordinator
15 Group Coordinator Not Available | the broker returns this error code for group coordinator requests, offset
    commits, and most group management requests if the offsets topic has not yet been created, or if the group
    coordinator is not active
16 Not Coordinator For Group | the broker returns this error code if it receives an offset fetch or commit request
    for a group that it is not a coordinator for
17 Invalid Topic | a request which attempted to access an invalid topic (e.g. one which has an illegal name), or if
    an attempt was made to write to an internal topic (such as the consumer offsets topic)
18 Record List Too Large | a message batch in a produce request exceeds the maximum configured segment size
19 Not Enough Replicas | the number of in-sync replicas is lower than the configured minimum and requiredAcks is -1
20 Not Enough Replicas After Append | the message was written to the log, but with fewer in-sync replicas than
    required.
21 Invalid Required Acks | the requested requiredAcks is invalid (anything other than -1, 1, or 0)
22 Illegal Generation | the generation id provided in the request is not the current generation
23 Inconsistent Group Protocol | the member provided a protocol type or set of protocols which is not compatible
    with the current group
24 Invalid Group ID | the group id is empty or null
25 Unknown Member ID | the member id is not in the current generation
26 Invalid Session Timeout | the requested session timeout is outside of the allowed range on the broker
27 Rebalance In Progress | the coordinator has begun rebalancing the group, the client should rejoin the group
28 Invalid Commit Offset Size | an offset commit was rejected because of oversize metadata
29 Topic Authorization Failed | the client is not authorized to access the requested topic
30 Group Authorization Failed | the client is not authorized to access a particular group id
31 Cluster Authorization Failed | the client is not authorized to use an inter-broker or administrative API
32 Invalid Timestamp | the timestamp of the message is out of acceptable range
33 Unsupported SASL Mechanism | the broker does not support the requested SASL mechanism
34 Illegal SASL State | the request is not valid given the current SASL state
35 Unsupported Version | the version of API is not supported
36 Topic Already Exists | a topic with this name already exists
37 Invalid Partition Number | the number of partitions is invalid
38 Invalid Replication Factor | the replication-factor is invalid
39 Invalid Replica Assignment | the replica assignment is invalid
40 Invalid Configuration | the configuration is invalid
41 Not Controller | this is not the correct controller for this cluster
42 Invalid Request | this most likely occurs because of a request being malformed by the client library or the
    message was sent to an incompatible broker, se the broker logs for more details
43 Unsupported For Message Format | the message format version on the broker does not support the request
44 Policy Violation | the request parameters do not satisfy the configured policy
45 Out Of Order Sequence Number | the broker received an out of order sequence number
46 Duplicate Sequence Number | the broker received a duplicate sequence number
47 Invalid Producer Epoch | the producer attempted an operation with an old epoch, either there is a newer producer
    with the same transactional ID, or the producer's transaction has been expired by the broker
48 Invalid Transaction State | the producer attempted a transactional operation in an invalid state
49 Invalid Producer ID Mapping | the producer attempted to use a producer id which is not currently assigned to its
    transactional ID
50 Invalid Transaction Timeout | the transaction timeout is larger than the maximum value allowed by the broker (as
    configured by max.transaction.timeout.ms)
51 Concurrent Transactions | the producer attempted to update a transaction while another concurrent operation on
    the same transaction was ongoing
52 Transaction Coordinator Fenced | the transaction coordinator sending a WriteTxnMarker is no longer the current
    coordinator for a given producer
53 Transactional ID Authorization Failed | the transactional ID authorization failed
54 Security Disabled | the security features are disabled
55 Broker Authorization Failed | the broker authorization failed
56 Kafka Storage Error | disk error when trying to access log file on the disk
57 Log Dir Not Found | the user-specified log directory is not found in the broker config
58 SASL Authentication Failed | SASL Authentication failed
59 Unknown Producer ID | the broker could not locate the producer metadata associated with the producer ID
60 Reassignment In Progress | a partition reassignment is in progress
61 Delegation Token Auth Disabled | delegation token feature is not enabled
62 Delegation Token Not Found | delegation token is not found on server
63 Delegation Token Owner Mismatch | specified principal is not valid owner/renewer
64 Delegation Token Request Not Allowed | delegation token requests are not allowed on plaintext/1-way ssl channels
    and on delegation token authenticated channels
65 Delegation Token Authorization Failed | delegation token authorization failed
66 Delegation Token Expired | delegation token is expired
67 Invalid Principal Type | supplied principaltype is not supported
68 Non Empty Group | the group is not empty
69 Group ID Not Found | the group ID does not exist
70 Fetch Session ID Not Found | the fetch session ID was not found
71 Invalid Fetch Session Epoch | the fetch session epoch is invalid
72 Listener Not Found | there is no listener on the leader broker that matches the listener on which metadata
    request was processed
73 Topic Deletion Disabled | topic deletion is disabled
74 Fenced Leader Epoch | the leader epoch in the request is older than the epoch on the broker
75 Unknown Leader Epoch | the leader epoch in the request is newer than the epoch on the broker
76 Unsupported Compression Type | the requesting client does not support the compression type of given partition
77  |
78  |
79 Member ID Required | the group member needs to have a valid member id before actually entering a consumer group
80  |
81  |
82 Fenced Instance ID | the broker rejected this static consumer since another consumer with the same
    group.instance.id has registered with a different member.id
83 Eligible Leader Not Available | eligible topic partition leaders are not available
84 Election Not Needed | leader election not needed for topic partition
85 No Reassignment In Progress | no partition reassignment is in progress
86 Group Subscribed To Topic | deleting offsets of a topic is forbidden while the consumer group is actively
    subscribed to it
87 Invalid Record | this record has failed the validation on broker and hence be rejected
88 Unstable Offset Commit | there are unstable offsets that need to be cleared
"""

# What came after v0.4.9.
_NEWER = """
89 Throttling Quota Exceeded | The throttling quota has been exceeded
90 Producer Fenced | There is a newer producer with the same transactionalId which fences the current one
91 Resource Not Found | A request illegally referred to a resource that does not exist
92 Duplicate Resource | A request illegally referred to the same resource twice
93 Unacceptable Credential | Requested credential would not meet criteria for acceptability
94 Inconsistent Voter Set | Indicates that the either the sender or recipient of a voter-only request is not one of
    the expected voters
95 Invalid Update Version | The given update version was invalid
96 Feature Update Failed | Unable to update finalized features due to an unexpected server error
97 Principal Deserialization Failure | Request principal deserialization failed during forwarding. This indicates an
    internal error on the broker cluster security setup
98 Snapshot Not Found | Requested snapshot was not found
99 Position Out Of Range | Requested position is not greater than or equal to zero, and less than the size of the
    snapshot
100 Unknown Topic ID | This server does not host this topic ID
101 Duplicate Broker Registration | This broker ID is already in use
102 Broker ID Not Registered | The given broker ID was not registered
103 Inconsistent Topic ID | The log's topic ID did not match the topic ID in the request
104 Inconsistent Cluster ID | The clusterId in the request does not match that found on the server
105 Transactional ID Not Found | The transactionalId could not be found
106 Fetch Session Topic ID Error | The fetch session encountered inconsistent topic ID usage
"""

_TEMPORARY = frozenset([2, 3, 5, 6, 7, 13, 14, 15, 16, 19, 20, 41, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 85, 86, 88])
_TEMPORARY_NEWER = frozenset([89, 100, 103, 106])


def _parse_table(table: str, temporary: frozenset[int]) -> dict[int, KErrorEntry]:
    found = {}
    for line in table.strip().replace("\n    ", " ").splitlines():
        code, _, rest = line.partition(" ")
        title, _, description = rest.partition("|")
        found[int(code)] = KErrorEntry(title.strip(), description.strip(), int(code) in temporary)
    return found


KERRORS_0_4_8: Mapping[int, KErrorEntry] = _parse_table(_TABLE, _TEMPORARY)
KERRORS_0_4_50: Mapping[int, KErrorEntry] = {**KERRORS_0_4_8, **_parse_table(_NEWER, _TEMPORARY_NEWER)}
