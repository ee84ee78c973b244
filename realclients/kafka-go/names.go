package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// sentinels are the library's and Go's error values by their identifiers, in the order in which an error is compared
// with them.
var sentinels = []struct {
	name  string
	value error
}{
	{"protocol.ErrNoTopic", protocol.ErrNoTopic},
	{"protocol.ErrNoPartition", protocol.ErrNoPartition},
	{"protocol.ErrNoLeader", protocol.ErrNoLeader},
	{"protocol.ErrNoRecord", protocol.ErrNoRecord},
	{"io.ErrClosedPipe", io.ErrClosedPipe},
	{"io.ErrUnexpectedEOF", io.ErrUnexpectedEOF},
	{"io.EOF", io.EOF},
}

// timeout is the class of every error whose Timeout() is true: where a deadline ends a wait on a connection, the
// context's and the connection's own error race, and the text is that of the winner.
const timeout = "Timeout"

// ClassOf is the identifier that users search for: that of the first message's error for WriteErrors.
func (c *client) ClassOf(err error) string { return classOf(err) }

func classOf(err error) string {
	var failed kafka.WriteErrors
	if errors.As(err, &failed) {
		for _, one := range failed {
			if one != nil {
				return classOf(one)
			}
		}
	}
	var large kafka.MessageTooLargeError
	if errors.As(err, &large) {
		return "MessageTooLargeError"
	}
	var answered kafka.Error
	if errors.As(err, &answered) {
		if title := strings.ReplaceAll(answered.Title(), " ", ""); title != "" {
			return title
		}
		return "kafka.Error"
	}
	var timed interface{ Timeout() bool }
	if errors.As(err, &timed) && timed.Timeout() {
		return timeout
	}
	for _, known := range sentinels {
		if errors.Is(err, known.value) {
			return known.name
		}
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return "tls.CertificateVerificationError"
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		return "net.OpError"
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return "net.DNSError"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}
