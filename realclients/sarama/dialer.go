package main

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"

	"faultlab/subject"

	"github.com/IBM/sarama"
)

// dialer is the one that Sarama makes where no proxy is configured (config.go, getDialer), and traces each dial. It
// returns the connection unchanged: Sarama looks at its type (broker.go, getSockError), so nothing may wrap it.
type dialer struct {
	*net.Dialer
	trace subject.Trace
	dials *atomic.Int64 // of all producers of this process
}

func watched(configuration *sarama.Config, trace subject.Trace, dials *atomic.Int64) *dialer {
	return &dialer{
		Dialer: &net.Dialer{
			Timeout:   configuration.Net.DialTimeout,
			KeepAlive: configuration.Net.KeepAlive,
			LocalAddr: configuration.Net.LocalAddr,
		},
		trace: trace,
		dials: dials,
	}
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	connection := d.dials.Add(1)
	d.trace("dial_started", map[string]any{"connection": connection, "address": address})
	connected, err := d.Dialer.Dial(network, address)
	ended := map[string]any{"connection": connection, "address": address, "outcome": outcome(err)}
	if err != nil {
		ended["error"] = err.Error()
	}
	d.trace("dial_ended", ended)
	return connected, err
}

// String is what Sarama's log calls its proxy.
func (d *dialer) String() string {
	return "none (faultlab watches dials)"
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
