package main

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"faultlab/subject"
)

// kafkaDialTimeout is that of the library's own default dialer (transport.go, defaultDialer).
const kafkaDialTimeout = 3 * time.Second

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// watched traces each dial of a Transport.
func (c *client) watched(next dial, trace subject.Trace) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection := c.dials.Add(1)
		trace("dial_started", map[string]any{"connection": connection, "address": address})
		connected, err := next(ctx, network, address)
		ended := map[string]any{"connection": connection, "address": address, "outcome": outcome(err)}
		if err != nil {
			ended["error"] = err.Error()
		}
		trace("dial_ended", ended)
		return connected, err
	}
}

func outcome(err error) string {
	var timed net.Error
	switch {
	case err == nil:
		return "connected"
	case errors.As(err, &timed) && timed.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	}
	return "failed"
}
