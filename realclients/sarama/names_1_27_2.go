//go:build v1_27_2

package main

var (
	newerSentinels     []sentinel
	newerAnsweredNames []string
)
