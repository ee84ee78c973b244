//go:build v1_27_2

package main

import "github.com/IBM/sarama"

var (
	newerSentinels     []sentinel
	newerAnsweredNames []string
	newerPartitioners  []sarama.PartitionerConstructor
)

const newerPartitionerNames = ""
