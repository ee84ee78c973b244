//go:build !v0_4_8 && !v0_4_9

package main

import "github.com/segmentio/kafka-go"

var newerBalancers = []namedBalancer{
	{"ReferenceHash", func() kafka.Balancer { return &kafka.ReferenceHash{} }},
}
