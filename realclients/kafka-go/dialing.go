package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"faultlab/subject"

	"github.com/segmentio/kafka-go"
)

const network = "tcp"

// dialerSettings are what a program sets that makes a Dialer. NetDialer is what its own DialFunc dials with.
type dialerSettings struct {
	Dialer    kafka.Dialer
	NetDialer net.Dialer
}

// newDialing makes a Dialer of DefaultDialer's fields and the settings. A Dialer that dials by itself is not traced:
// to put a function of ours before it would take from it what it is measured for.
func newDialing(c *client, launch subject.Launch, trace subject.Trace) (subject.Producer, error) {
	made := &dialerSettings{Dialer: *kafka.DefaultDialer, NetDialer: net.Dialer{Timeout: kafkaDialTimeout}}
	known := dialerWords()
	known[reflect.TypeFor[dial]()] = oneOf("nil own", dial(nil), c.watched(made.NetDialer.DialContext, trace))
	secured(known, launch)
	if err := subject.Set(made, launch.Settings, known); err != nil {
		return nil, err
	}
	return &dialing{
		dialer:   &made.Dialer,
		first:    launch.Bootstrap,
		lookedUp: map[place]kafka.Partition{},
		leaders:  map[place]*kafka.Conn{},
	}, nil
}

// dialerWords are those that stand for a Dialer's objects.
func dialerWords() map[reflect.Type]subject.Spelled {
	known := maps.Clone(words)
	known[reflect.TypeFor[time.Time]()] = fromNow
	known[reflect.TypeFor[net.Addr]()] = localAddress
	known[reflect.TypeFor[kafka.Resolver]()] = resolverOf
	return known
}

// fromNow is a moment so many seconds away; 0 is none.
func fromNow(text string) (any, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("is a duration in seconds, not %s", text)
	}
	if seconds == 0 {
		return time.Time{}, nil
	}
	return time.Now().Add(time.Duration(seconds * float64(time.Second))), nil
}

func localAddress(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, ":") {
		text += ":0"
	}
	address, err := netip.ParseAddrPort(text)
	if err != nil {
		return nil, err
	}
	return net.TCPAddrFromAddrPort(address), nil
}

// resolverOf is what a text stands for: the hosts that it returns, `none`, `fails` or `system`.
func resolverOf(text string) (any, error) {
	switch text {
	case "":
		return nil, nil
	case "none":
		return hosts(nil), nil
	case "fails":
		return unresolved{}, nil
	case "system":
		return net.DefaultResolver, nil
	}
	return hosts(strings.Fields(text)), nil
}

// hosts is a Resolver that returns them for whatever it is asked.
type hosts []string

func (h hosts) LookupHost(context.Context, string) ([]string, error) { return h, nil }

// unresolved is a Resolver that knows no name.
type unresolved struct{}

func (unresolved) LookupHost(_ context.Context, host string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

type place struct {
	topic     string
	partition int
}

// dialing is what a handle of a Dialer stands for. Connections stay open until it is closed; the last one to a
// partition's leader carries the messages for it, and a message without one dials it first.
type dialing struct {
	dialer *kafka.Dialer
	first  []string

	mutex    sync.Mutex
	lookedUp map[place]kafka.Partition
	leaders  map[place]*kafka.Conn
	others   []*kafka.Conn
}

func (d *dialing) address(asked arguments) (string, error) {
	if asked.Address != nil {
		return *asked.Address, nil
	}
	if len(d.first) == 0 {
		return "", subject.CommandError{Text: "there is no bootstrap address to dial"}
	}
	return d.first[0], nil
}

func (d *dialing) dial(ctx context.Context, asked arguments) (map[string]any, error) {
	address, err := d.address(asked)
	if err != nil {
		return nil, err
	}
	conn, err := d.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.others = append(d.others, conn)
	return connected(conn), nil
}

func (d *dialing) dialLeader(ctx context.Context, asked arguments) (map[string]any, error) {
	address, err := d.address(asked)
	if err != nil {
		return nil, err
	}
	conn, err := d.dialer.DialLeader(ctx, network, address, asked.Topic, asked.Partition)
	if err != nil {
		return nil, err
	}
	d.keep(asked.place(), conn)
	return connected(conn), nil
}

func (d *dialing) dialPartition(ctx context.Context, asked arguments) (map[string]any, error) {
	d.mutex.Lock()
	known, found := d.lookedUp[asked.place()]
	d.mutex.Unlock()
	if !found {
		return nil, subject.CommandError{Text: fmt.Sprintf("%s/%d has not been looked up before", asked.Topic, asked.Partition)}
	}
	conn, err := d.dialer.DialPartition(ctx, network, "", known)
	if err != nil {
		return nil, err
	}
	d.keep(asked.place(), conn)
	return connected(conn), nil
}

func (d *dialing) lookupPartition(ctx context.Context, asked arguments) (map[string]any, error) {
	address, err := d.address(asked)
	if err != nil {
		return nil, err
	}
	found, err := d.dialer.LookupPartition(ctx, network, address, asked.Topic, asked.Partition)
	if err != nil {
		return nil, err
	}
	d.remember(found)
	return led(found.Leader), nil
}

func (d *dialing) lookupLeader(ctx context.Context, asked arguments) (map[string]any, error) {
	address, err := d.address(asked)
	if err != nil {
		return nil, err
	}
	found, err := d.dialer.LookupLeader(ctx, network, address, asked.Topic, asked.Partition)
	if err != nil {
		return nil, err
	}
	return led(found), nil
}

func (d *dialing) lookupPartitions(ctx context.Context, asked arguments) (map[string]any, error) {
	address, err := d.address(asked)
	if err != nil {
		return nil, err
	}
	found, err := d.dialer.LookupPartitions(ctx, network, address, asked.Topic)
	if err != nil {
		return nil, err
	}
	d.remember(found...)
	slices.SortFunc(found, func(a, b kafka.Partition) int { return a.ID - b.ID })
	texts := make([]string, len(found))
	for index, one := range found {
		texts[index] = fmt.Sprintf("%d:%d", one.ID, one.Leader.ID)
	}
	return map[string]any{"leaders": strings.Join(texts, " ")}, nil
}

// Send is DialLeader where there is no connection yet, SetWriteDeadline, WriteMessages. An error ends the connection.
func (d *dialing) Send(ctx context.Context, wanted subject.Message) (subject.Acknowledged, error) {
	asked := arguments{Topic: wanted.Topic}
	if wanted.Partition != nil {
		asked.Partition = int(*wanted.Partition)
	}
	d.mutex.Lock()
	conn := d.leaders[asked.place()]
	d.mutex.Unlock()
	if conn == nil {
		if _, err := d.dialLeader(ctx, asked); err != nil {
			return subject.Acknowledged{}, err
		}
		d.mutex.Lock()
		conn = d.leaders[asked.place()]
		d.mutex.Unlock()
	}
	deadline, _ := ctx.Deadline()
	message := kafka.Message{Value: []byte(wanted.Value)}
	if wanted.Key != nil {
		message.Key = []byte(*wanted.Key)
	}
	err := conn.SetWriteDeadline(deadline)
	if err == nil {
		var partition int32
		var offset int64
		if _, partition, offset, _, err = conn.WriteCompressedMessagesAt(nil, message); err == nil {
			return subject.Acknowledged{Partition: partition, Offset: offset}, nil
		}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.leaders[asked.place()] == conn {
		delete(d.leaders, asked.place())
	}
	conn.Close() // the library has closed it already, after most errors
	return subject.Acknowledged{}, err
}

func (d *dialing) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, conn := range d.others {
		conn.Close()
	}
	for _, conn := range d.leaders {
		conn.Close()
	}
	d.others, d.leaders = nil, map[place]*kafka.Conn{}
	return nil
}

// keep makes this the connection of the partition's messages; the one before stays open.
func (d *dialing) keep(leads place, conn *kafka.Conn) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if before := d.leaders[leads]; before != nil {
		d.others = append(d.others, before)
	}
	d.leaders[leads] = conn
}

func (d *dialing) remember(found ...kafka.Partition) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, one := range found {
		d.lookedUp[place{one.Topic, one.ID}] = one
	}
}

func connected(conn *kafka.Conn) map[string]any {
	return map[string]any{"address": conn.RemoteAddr().String()}
}

func led(leader kafka.Broker) map[string]any {
	return map[string]any{"leader": leader.ID, "address": net.JoinHostPort(leader.Host, strconv.Itoa(leader.Port))}
}
