package subject

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// outbox writes lines in order on a goroutine of its own, so that a slow reader never delays the client.
type outbox struct {
	mutex   sync.Mutex
	said    *sync.Cond
	lines   [][]byte
	closing bool
	written chan struct{}
}

func newOutbox(to io.Writer, lost func(error)) *outbox {
	box := &outbox{written: make(chan struct{})}
	box.said = sync.NewCond(&box.mutex)
	go box.write(to, lost)
	return box
}

func (box *outbox) say(event map[string]any) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(fmt.Sprintf("an event cannot be encoded: %v", err))
	}
	box.mutex.Lock()
	defer box.mutex.Unlock()
	box.lines = append(box.lines, append(line, '\n'))
	box.said.Signal()
}

// close returns when everything that was said has been written.
func (box *outbox) close() {
	box.mutex.Lock()
	box.closing = true
	box.said.Signal()
	box.mutex.Unlock()
	<-box.written
}

func (box *outbox) write(to io.Writer, lost func(error)) {
	defer close(box.written)
	for {
		box.mutex.Lock()
		for len(box.lines) == 0 && !box.closing {
			box.said.Wait()
		}
		lines := box.lines
		box.lines = nil
		box.mutex.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			if _, err := to.Write(line); err != nil {
				lost(err)
				return
			}
		}
	}
}
