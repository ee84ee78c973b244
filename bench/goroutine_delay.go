// How long a woken goroutine waits behind others that are woken after it, in Go's runtime on this machine.
//
//	go run bench/goroutine_delay.go
//
// A goroutine is woken, then two others that pass a value to and fro. The one that was woken last runs next on its
// waker's processor, so both overtake the first, until an idle processor wakes up and steals it, or until they end.
// Printed is how long that took, and how many steps of the others: what client/golang/scheduler.py says of STOLEN.
package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

const (
	times = 1000
	chain = 2000
)

type delay struct {
	steps int
	took  time.Duration
}

func main() {
	delays := make([]delay, times)
	for index := range delays {
		delays[index] = measure()
	}
	slices.SortFunc(delays, func(one, other delay) int { return one.steps - other.steps })
	fmt.Printf("%s, GOMAXPROCS %d, %d times\n", runtime.Version(), runtime.GOMAXPROCS(0), times)
	for _, percent := range []int{1, 10, 25, 50, 75, 90, 99} {
		one := delays[percent*times/100]
		if one.steps >= chain {
			fmt.Printf("%2d %%: not stolen within %d steps\n", percent, chain)
			continue
		}
		fmt.Printf("%2d %%: stolen after %4d steps, %5.0f us\n", percent, one.steps, float64(one.took.Nanoseconds())/1e3)
	}
}

// measure says after how many steps of the others, and how long after its wake-up, a goroutine ran.
func measure() delay {
	var steps atomic.Int64
	var began time.Time
	var found delay
	first, done := make(chan struct{}), make(chan struct{}, 2)
	go func() {
		<-first
		found = delay{int(steps.Load()), time.Since(began)}
		done <- struct{}{}
	}()
	there, back := make(chan struct{}), make(chan struct{})
	pass := func(in, out chan struct{}) {
		for range in {
			if steps.Add(1) >= chain {
				close(out)
				break
			}
			out <- struct{}{}
		}
	}
	go func() {
		pass(there, back)
		done <- struct{}{}
	}()
	go pass(back, there)
	time.Sleep(200 * time.Microsecond) // all of them wait now, and idle processors sleep
	began = time.Now()
	first <- struct{}{}
	there <- struct{}{}
	<-done
	<-done
	return found
}
