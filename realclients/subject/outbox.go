package subject

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// pause is how long a line may wait that the client's own goroutines leave behind.
const pause = 20 * time.Millisecond

// Log is for what the library logs: it is kept with the run (stderr). A write returns at once and wakes nobody, since
// programs usually log nothing: a goroutine that writes to a file between an Unlock and the next Lock lets another one
// take the lock first, which it does not without (bench/goroutine_locks.go).
var Log io.Writer = logged

var logged = newOutbox(os.Stderr, func(error) {}) // nobody is left to be told

// outbox writes lines in order on a goroutine of its own, so that a slow reader never delays the client.
type outbox struct {
	mutex   sync.Mutex
	lines   [][]byte
	awaited bool // the writer has been woken for them, or a timer will wake it
	closing bool
	wake    chan struct{}
	written chan struct{}
}

func newOutbox(to io.Writer, lost func(error)) *outbox {
	box := &outbox{wake: make(chan struct{}, 1), written: make(chan struct{})}
	go box.write(to, lost)
	return box
}

// say has an event written now.
func (box *outbox) say(event map[string]any) {
	box.add(encoded(event))
	box.wakeWriter()
}

// note has an event written soon, on a goroutine that the caller does not wake.
func (box *outbox) note(event map[string]any) {
	box.Write(encoded(event))
}

// Write is note for a line of text.
func (box *outbox) Write(line []byte) (int, error) {
	if box.add(append([]byte(nil), line...)) {
		time.AfterFunc(pause, box.wakeWriter)
	}
	return len(line), nil
}

// add says whether nobody has yet seen to it that the writer wakes.
func (box *outbox) add(line []byte) bool {
	box.mutex.Lock()
	defer box.mutex.Unlock()
	box.lines = append(box.lines, line)
	alone := !box.awaited
	box.awaited = true
	return alone
}

func (box *outbox) wakeWriter() {
	select {
	case box.wake <- struct{}{}:
	default:
	}
}

// close returns when everything that was said has been written.
func (box *outbox) close() {
	box.mutex.Lock()
	box.closing = true
	box.mutex.Unlock()
	box.wakeWriter()
	<-box.written
}

func (box *outbox) write(to io.Writer, lost func(error)) {
	defer close(box.written)
	for range box.wake {
		box.mutex.Lock()
		lines, closing := box.lines, box.closing
		box.lines, box.awaited = nil, false
		box.mutex.Unlock()
		for _, line := range lines {
			if _, err := to.Write(line); err != nil {
				lost(err)
				return
			}
		}
		if closing {
			return
		}
	}
}

func encoded(event map[string]any) []byte {
	line, err := json.Marshal(event)
	if err != nil {
		panic(fmt.Sprintf("an event cannot be encoded: %v", err))
	}
	return append(line, '\n')
}
