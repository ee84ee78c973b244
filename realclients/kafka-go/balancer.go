package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go"
)

// balancer gives a message that names its partition to that one, and others to the configured one.
type balancer struct {
	asked *sync.Map
	other kafka.Balancer
}

func (b *balancer) Balance(message kafka.Message, partitions ...int) int {
	if found, known := b.asked.Load(identity(message)); known && found.(*asked).partition != nil {
		return int(*found.(*asked).partition)
	}
	return b.other.Balance(message, partitions...)
}

// balancers are made anew for each writer, under the names of their types.
var balancers = append([]namedBalancer{
	{"RoundRobin", func() kafka.Balancer { return &kafka.RoundRobin{} }},
	{"LeastBytes", func() kafka.Balancer { return &kafka.LeastBytes{} }},
	{"Hash", func() kafka.Balancer { return &kafka.Hash{} }},
	{"CRC32Balancer", func() kafka.Balancer { return kafka.CRC32Balancer{} }},
	{"Murmur2Balancer", func() kafka.Balancer { return kafka.Murmur2Balancer{} }},
}, newerBalancers...)

type namedBalancer struct {
	name string
	make func() kafka.Balancer
}

func balancerNamed(text string) (any, error) {
	place := slices.IndexFunc(balancers, func(known namedBalancer) bool { return known.name == text })
	if place < 0 {
		names := make([]string, len(balancers))
		for index, known := range balancers {
			names[index] = known.name
		}
		return nil, fmt.Errorf("is one of %s, not %q", strings.Join(names, ", "), text)
	}
	return balancers[place].make(), nil
}
