//go:build v0_4_8 || v0_4_9

package main

var newerBalancers []namedBalancer
