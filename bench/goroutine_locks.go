// Who has a lock next, where a goroutine gives it up, does something and takes it again while another one waits for it.
//
//	go run bench/goroutine_locks.go
//
// As Sarama's Broker does between its dial and what it sends. The program around it logs nothing as a rule; one under
// faultlab logs to memory, which a goroutine that nobody wakes writes (realclients/subject/outbox.go).
//
// Go 1.26.8, two idle processors: who waits has the lock first in 0 or 1 of 300 where 0 to 20 us pass in between, in 147 to
// 150 from 50 us on. A line in a file takes 1 us on one machine, where it changes nothing; on another, whose system calls
// are slow, who waits had the lock first in 222 of 300, and in none where the log is discarded.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"
)

const rounds = 300

func main() {
	for _, pause := range []time.Duration{0, 5, 10, 20, 50, 100, 200} {
		pause *= time.Microsecond
		show(fmt.Sprintf("does nothing for %v", pause), func() {
			for began := time.Now(); time.Since(began) < pause; {
			}
		})
	}
	file, err := os.CreateTemp("", "goroutine-locks-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	for name, to := range map[string]io.Writer{"to nothing": io.Discard, "to a file": file} {
		logger := log.New(to, "", log.Lmicroseconds)
		line := func() { logger.Printf("Connected to broker at %s (registered as #%d)", "127.0.0.1:9092", 1) }
		began := time.Now()
		for range rounds {
			line()
		}
		show(fmt.Sprintf("logs %s in %v", name, time.Since(began)/rounds), line)
	}
}

func show(what string, between func()) {
	first := 0
	for range rounds {
		if waiterIsNext(between) {
			first++
		}
	}
	fmt.Printf("who had it %s: who waits is next in %d of %d\n", what, first, rounds)
}

func waiterIsNext(between func()) bool {
	var lock sync.Mutex
	order := make(chan string, 2)
	lock.Lock()
	go func() {
		lock.Lock()
		order <- "waiter"
		lock.Unlock()
	}()
	time.Sleep(2 * time.Millisecond) // it waits by now, and every processor is idle
	lock.Unlock()
	between()
	lock.Lock()
	order <- "holder"
	lock.Unlock()
	return <-order == "waiter"
}
