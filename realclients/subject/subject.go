// Package subject speaks faultlab's subject protocol (docs/SUBJECT_PROTOCOL.md) on behalf of a Kafka client: commands on
// stdin, events on stdout, its log on stderr. The client only has to connect, send and close.
package subject

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const (
	usage  = 4
	broken = 1
)

// Message is what a send is asked to deliver. Partition is nil where the client is to choose.
type Message struct {
	Topic     string
	Key       *string
	Value     string
	Partition *int32
}

// Acknowledged says where a message stands in the log.
type Acknowledged struct {
	Partition int32
	Offset    int64
}

// Client is the library under test. Sends may come from several goroutines at once; Connect and Close come once.
type Client interface {
	// Check refuses a launch that this program cannot follow, before anything else.
	Check(launch Launch) error
	// Connect constructs the client. It returns when the library's own constructor does.
	Connect(launch Launch, trace Trace) error
	Send(message Message) (Acknowledged, error)
	Close() error
	// ClassOf names an error as its users do: `ErrOutOfBrokers`, `net.OpError`.
	ClassOf(err error) string
}

// Trace tells an event of the client (docs/RUN_FORMAT.md, kinds of events of a client), stamped now.
type Trace func(kind string, fields map[string]any)

// CommandError is a command that cannot be carried out as it stands.
type CommandError struct{ Text string }

func (wrong CommandError) Error() string { return wrong.Text }

type command struct {
	Op        string   `json:"op"`
	ID        string   `json:"id"`
	Topic     *string  `json:"topic"`
	Key       *string  `json:"key"`
	Value     *string  `json:"value"`
	Partition *int32   `json:"partition"`
	DeadlineS *float64 `json:"deadline_s"`
}

type subject struct {
	client Client
	launch Launch
	out    *outbox
	ended  chan int

	mutex      sync.Mutex
	connecting bool
	connected  bool
	closing    bool
}

// Main is a subject's whole main function: it returns the exit code.
func Main(client Client) int {
	launch, err := launched()
	if err == nil {
		err = client.Check(launch)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return usage
	}
	s := &subject{client: client, launch: launch, ended: make(chan int, 1)}
	s.out = newOutbox(os.Stdout, func(err error) {
		fmt.Fprintln(os.Stderr, "nobody reads our events any more:", err)
		s.end(broken)
	})
	s.out.say(map[string]any{"ev": "ready", "clock_ns": NowNs()})
	go s.read(os.Stdin)
	code := <-s.ended
	s.out.close()
	return code
}

func (s *subject) end(code int) {
	select {
	case s.ended <- code:
	default:
	}
}

func (s *subject) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			s.take(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "commands cannot be read:", err)
			}
			s.end(0)
			return
		}
	}
}

func (s *subject) take(line []byte) {
	var asked command
	if err := json.Unmarshal(line, &asked); err != nil {
		fmt.Fprintf(os.Stderr, "a command is a JSON object in a line: %v: %.200q\n", err, line)
		s.end(usage)
		return
	}
	go s.carryOut(asked)
}

func (s *subject) carryOut(asked command) {
	s.out.say(map[string]any{"ev": "started", "id": asked.ID, "at_ns": NowNs()})
	answer, err := s.operate(asked)
	atNs := NowNs()
	if err != nil {
		answer = map[string]any{"ev": "error", "error": err.Error(), "class": s.classOf(err)}
	}
	answer["id"], answer["at_ns"] = asked.ID, atNs
	s.out.say(answer)
	if asked.Op == "close" {
		s.end(0)
	}
}

func (s *subject) operate(asked command) (map[string]any, error) {
	ok := map[string]any{"ev": "ok"}
	switch asked.Op {
	case "connect":
		return ok, s.connect()
	case "send":
		message, err := s.message(asked)
		if err != nil {
			return nil, err
		}
		found, err := s.client.Send(message)
		ok["partition"], ok["offset"] = found.Partition, found.Offset
		return ok, err
	case "close":
		return ok, s.close()
	}
	return nil, CommandError{fmt.Sprintf("op is connect, send or close, not %q", asked.Op)}
}

func (s *subject) connect() error {
	s.mutex.Lock()
	refused := s.connecting || s.connected || s.closing
	s.connecting = true
	s.mutex.Unlock()
	if refused {
		return CommandError{"connect: there is a client already, or one on its way, or it is closed"}
	}
	err := s.client.Connect(s.launch, s.trace)
	s.mutex.Lock()
	s.connecting, s.connected = false, err == nil
	s.mutex.Unlock()
	return err
}

func (s *subject) close() error {
	s.mutex.Lock()
	again, connected := s.closing, s.connected
	s.closing, s.connected = true, false
	s.mutex.Unlock()
	if again {
		return CommandError{"close: the client is closed already, or on its way"}
	}
	if !connected {
		return nil
	}
	return s.client.Close()
}

func (s *subject) message(asked command) (Message, error) {
	s.mutex.Lock()
	connected := s.connected
	s.mutex.Unlock()
	switch {
	case asked.Topic == nil:
		return Message{}, CommandError{"send: topic is missing"}
	case asked.Value == nil:
		return Message{}, CommandError{"send: value is missing"}
	case asked.Partition != nil && *asked.Partition < 0:
		return Message{}, CommandError{"send: partition is no number from 0"}
	case asked.DeadlineS != nil:
		return Message{}, CommandError{fmt.Sprintf("send: the send of %s takes no deadline", s.launch.Client)}
	case !connected:
		return Message{}, CommandError{"send: there is no client before a connect has succeeded"}
	}
	return Message{Topic: *asked.Topic, Key: asked.Key, Value: *asked.Value, Partition: asked.Partition}, nil
}

func (s *subject) classOf(err error) string {
	var wrong CommandError
	var setting SettingError
	switch {
	case errors.As(err, &wrong):
		return "CommandError"
	case errors.As(err, &setting):
		return "SettingError"
	}
	return s.client.ClassOf(err)
}

func (s *subject) trace(kind string, fields map[string]any) {
	event := map[string]any{"ev": "trace", "at_ns": NowNs(), "kind": kind}
	for name, value := range fields {
		event[name] = value
	}
	s.out.say(event)
}
