package subject

import (
	"fmt"
	"sync"
)

// mainHandle is the handle of commands that name none.
const mainHandle = "main"

type state int

const (
	opening state = iota
	opened
	closing
)

type handle struct {
	name     string
	state    state
	producer Producer
}

// handles are what the program holds by name, in the order in which they were constructed. Every method returns a
// CommandError where the state does not allow it, and whatever the client returns.
type handles struct {
	mutex      sync.Mutex
	known      []*handle
	closingAll bool
}

func newHandles() *handles { return &handles{} }

func (h *handles) at(name string) (int, *handle) {
	for index, known := range h.known {
		if known.name == name {
			return index, known
		}
	}
	return -1, nil
}

func (h *handles) forget(name string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if index, known := h.at(name); known != nil {
		h.known = append(h.known[:index], h.known[index+1:]...)
	}
}

// open constructs a handle. After a failure the name is free again.
func (h *handles) open(name string, construct func() (Producer, error)) error {
	h.mutex.Lock()
	_, known := h.at(name)
	if h.closingAll || known != nil {
		h.mutex.Unlock()
		if known != nil {
			return CommandError{fmt.Sprintf("there is a %s already, or one on its way", named(name))}
		}
		return CommandError{"the subject is closing"}
	}
	made := &handle{name: name, state: opening}
	h.known = append(h.known, made)
	h.mutex.Unlock()
	producer, err := construct()
	if err != nil {
		h.forget(name)
		return err
	}
	h.mutex.Lock()
	made.producer, made.state = producer, opened
	h.mutex.Unlock()
	return nil
}

// find returns the producer of a handle that is open, or being closed.
func (h *handles) find(name string) (Producer, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if _, known := h.at(name); known != nil && known.state != opening {
		return known.producer, nil
	}
	return nil, CommandError{fmt.Sprintf("there is no %s before a connect has succeeded", named(name))}
}

// close closes one handle and leaves the others.
func (h *handles) close(name string) error {
	producer, err := h.find(name)
	if err != nil {
		return err
	}
	h.mutex.Lock()
	_, known := h.at(name)
	if h.closingAll || known == nil || known.state == closing {
		h.mutex.Unlock()
		return CommandError{fmt.Sprintf("the %s is closing already", named(name))}
	}
	known.state = closing
	h.mutex.Unlock()
	defer h.forget(name)
	return producer.Close()
}

// closeAll closes every handle, the last one first, and for good.
func (h *handles) closeAll() error {
	h.mutex.Lock()
	if h.closingAll {
		h.mutex.Unlock()
		return CommandError{"the subject is closing already"}
	}
	var producers []Producer
	for _, known := range h.known {
		if known.state == closing {
			h.mutex.Unlock()
			return CommandError{fmt.Sprintf("the %s is closing still", named(known.name))}
		}
		if known.state == opened {
			producers = append(producers, known.producer)
		}
	}
	h.closingAll = true
	h.mutex.Unlock()
	var failures []error
	for index := len(producers) - 1; index >= 0; index-- {
		failures = append(failures, producers[index].Close())
	}
	return firstFailure(failures)
}

// firstFailure returns the error unwrapped: the lab gets the library's own text.
func firstFailure(failures []error) error {
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

func named(name string) string {
	if name == mainHandle {
		return "producer"
	}
	return "producer " + name
}
