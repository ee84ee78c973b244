//go:build !v0_4_8

package main

// topicsOfMessages: whether a Writer takes messages of several topics (from v0.4.9).
const topicsOfMessages = true
