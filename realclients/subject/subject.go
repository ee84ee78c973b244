// Package subject speaks faultlab's subject protocol (docs/SUBJECT_PROTOCOL.md) on behalf of a Kafka client: commands on
// stdin, events on stdout, its log on stderr. The client only has to connect, send and close.
package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	usage  = 4
	broken = 1
	// commandBytes is as much as the lab's pipe holds: a message of some 100 KiB is there with one read.
	commandBytes = 1 << 20
)

// Message is what a send is asked to deliver. Partition is nil where the client is to choose.
type Message struct {
	Topic     string
	Key       *string
	Value     string
	Partition *int32
}

// Acknowledged says where a message stands in the log. Unconfirmed: the library returned without a broker's answer, so
// that nobody knows.
type Acknowledged struct {
	Partition   int32
	Offset      int64
	Unconfirmed bool
}

// Client is the library under test.
type Client interface {
	// Check refuses a launch that this program cannot follow, before anything else.
	Check(launch Launch) error
	// NoDeadline says of each operation that takes no deadline why not.
	NoDeadline() map[string]string
	// Connect constructs a producer, one for each handle. It returns when the library's own constructor does.
	Connect(launch Launch, trace Trace) (Producer, error)
	// ClassOf names an error as its users do: `ErrOutOfBrokers`, `net.OpError`.
	ClassOf(err error) string
}

// Operator is a Client that can be asked for more than to connect, send and close.
type Operator interface {
	Operations() map[string]Operation
}

// Operation carries out a command, a JSON object with arguments of its own, with the producer of its handle. It returns
// the fields of its result.
type Operation func(ctx context.Context, producer Producer, command []byte) (map[string]any, error)

// Producer is what a handle stands for. Sends may come from several goroutines at once; Close comes once.
type Producer interface {
	// Send delivers a message. The context has the caller's deadline, where the lab gives one.
	Send(ctx context.Context, message Message) (Acknowledged, error)
	Close() error
}

// Trace reports an event of the client (docs/RUN_FORMAT.md, kinds of events of a client), stamped now.
type Trace func(kind string, fields map[string]any)

// CommandError is a command that cannot be carried out as it stands. Its text does not name the operation.
type CommandError struct{ Text string }

func (wrong CommandError) Error() string { return wrong.Text }

type command struct {
	Op        string   `json:"op"`
	ID        string   `json:"id"`
	Handle    *string  `json:"handle"`
	Topic     *string  `json:"topic"`
	Key       *string  `json:"key"`
	Value     *string  `json:"value"`
	Partition *int32   `json:"partition"`
	DeadlineS *float64 `json:"deadline_s"`
	line      []byte
}

type subject struct {
	client  Client
	launch  Launch
	out     *outbox
	ended   chan int
	handles *handles
}

// Main is a subject's whole main function: it returns the exit code.
func Main(client Client) int {
	defer logged.close()
	launch, err := launched()
	if err == nil {
		err = client.Check(launch)
	}
	if err != nil {
		fmt.Fprintln(Log, err)
		return usage
	}
	s := &subject{client: client, launch: launch, ended: make(chan int, 1), handles: newHandles()}
	s.out = newOutbox(os.Stdout, func(err error) {
		fmt.Fprintln(Log, "nobody reads our events any more:", err)
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
	lines := bufio.NewReaderSize(from, commandBytes)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			s.take(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(Log, "commands cannot be read:", err)
			}
			s.end(0)
			return
		}
	}
}

func (s *subject) take(line []byte) {
	var asked command
	if err := json.Unmarshal(line, &asked); err != nil {
		fmt.Fprintf(Log, "a command is a JSON object in a line: %v: %.200q\n", err, line)
		s.end(usage)
		return
	}
	asked.line = line
	go s.carryOut(asked)
}

func (s *subject) carryOut(asked command) {
	s.out.say(map[string]any{"ev": "started", "id": asked.ID, "at_ns": NowNs()})
	answer, err := s.operate(asked)
	atNs := NowNs()
	if err != nil {
		answer = map[string]any{"ev": "error", "error": err.Error(), "class": s.classOf(err)}
	} else {
		answer["ev"] = "ok"
	}
	answer["id"], answer["at_ns"] = asked.ID, atNs
	s.out.say(answer)
	var refused CommandError
	if asked.Op == "close" && asked.Handle == nil && !errors.As(err, &refused) {
		s.end(0)
	}
}

// operations by the names that commands give them. Each returns the fields of its result.
var operations = map[string]func(*subject, context.Context, command) (map[string]any, error){
	"connect": (*subject).connect,
	"send":    (*subject).send,
	"close":   (*subject).close,
}

func (s *subject) operate(asked command) (map[string]any, error) {
	operation, found := operations[asked.Op]
	if !found {
		if operation, found = s.own(asked.Op); !found {
			return nil, CommandError{fmt.Sprintf("op is %s or close, not %q", strings.Join(s.names(), ", "), asked.Op)}
		}
	}
	ctx := context.Background()
	if asked.DeadlineS != nil {
		if reason, refused := s.client.NoDeadline()[asked.Op]; refused {
			return nil, CommandError{fmt.Sprintf("%s: the %s of %s takes no deadline: %s", asked.Op, asked.Op, s.launch.Client, reason)}
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*asked.DeadlineS*float64(time.Second)))
		defer cancel()
	}
	result, err := operation(s, ctx, asked)
	var refused CommandError
	if errors.As(err, &refused) {
		err = CommandError{asked.Op + ": " + refused.Text}
	}
	if result == nil {
		result = map[string]any{}
	}
	return result, err
}

// own is an operation of the client beside connect, send and close.
func (s *subject) own(name string) (func(*subject, context.Context, command) (map[string]any, error), bool) {
	operator, ok := s.client.(Operator)
	if !ok {
		return nil, false
	}
	operation, found := operator.Operations()[name]
	return func(s *subject, ctx context.Context, asked command) (map[string]any, error) {
		producer, err := s.handles.find(handleOf(asked))
		if err != nil {
			return nil, err
		}
		return operation(ctx, producer, asked.line)
	}, found
}

// names of the operations but close.
func (s *subject) names() []string {
	names := []string{"connect", "send"}
	if operator, ok := s.client.(Operator); ok {
		names = append(names, slices.Sorted(maps.Keys(operator.Operations()))...)
	}
	return names
}

func (s *subject) connect(_ context.Context, asked command) (map[string]any, error) {
	return nil, s.handles.open(handleOf(asked), func() (Producer, error) { return s.client.Connect(s.launch, s.trace) })
}

func (s *subject) send(ctx context.Context, asked command) (map[string]any, error) {
	message, err := messageOf(asked)
	if err != nil {
		return nil, err
	}
	producer, err := s.handles.find(handleOf(asked))
	if err != nil {
		return nil, err
	}
	found, err := producer.Send(ctx, message)
	if err != nil || found.Unconfirmed {
		return nil, err
	}
	return map[string]any{"partition": found.Partition, "offset": found.Offset}, nil
}

func (s *subject) close(_ context.Context, asked command) (map[string]any, error) {
	if asked.Handle != nil {
		return nil, s.handles.close(*asked.Handle)
	}
	return nil, s.handles.closeAll()
}

func handleOf(asked command) string {
	if asked.Handle == nil {
		return mainHandle
	}
	return *asked.Handle
}

func messageOf(asked command) (Message, error) {
	switch {
	case asked.Topic == nil:
		return Message{}, CommandError{"topic is missing"}
	case asked.Value == nil:
		return Message{}, CommandError{"value is missing"}
	case asked.Partition != nil && *asked.Partition < 0:
		return Message{}, CommandError{"partition is no number from 0"}
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
	s.out.note(event)
}
