// Of two sleeps that end together, which goroutine runs first: as client/golang/sleep.py has to order them.
//
//	go run bench/goroutine_sleeps.go
//
// Two goroutines sleep until moments that are `gap` apart. They begin to sleep at once, so on one processor, or 4 ms
// apart, when processors have been idle in between and each has a timer of its own.
//
// Go 1.26.8, two processors, of 200: begun at once and up to a gap of 100 us, the later one runs first in 172 to 187 on one
// machine, in 72 to 88 on another, and there in 86 to 105 beside a suite; from 300 us on in 0 to 30. Begun 4 ms apart, in 1
// to 23 on the one machine, in 53 to 66 on the other. Timers that have expired when a processor looks are run one after the
// other, and each one's goroutine takes the place of the one that was to run next (runtime/time.go, runtime/proc.go:
// ready). Where the thread that is woken for the first one gets the processor of the one that woke it, that one runs first.
package main

import (
	"fmt"
	"time"
)

const rounds = 200

func main() {
	for _, pause := range []time.Duration{0, 4 * time.Millisecond} {
		for _, gap := range []time.Duration{0, 20 * time.Microsecond, 100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond} {
			later := 0
			for range rounds {
				if laterRunsFirst(pause, gap) {
					later++
				}
			}
			fmt.Printf("begun %v apart, ending %v apart: the later one runs first in %d of %d\n", pause, gap, later, rounds)
		}
	}
}

func laterRunsFirst(pause, gap time.Duration) bool {
	end := time.Now().Add(20 * time.Millisecond)
	ended := make(chan int, 2)
	sleeper := func(number int) {
		time.Sleep(time.Until(end.Add(time.Duration(number) * gap)))
		ended <- number
	}
	go sleeper(0)
	if pause > 0 {
		time.Sleep(pause)
	}
	go sleeper(1)
	first := <-ended
	<-ended
	return first == 1
}
