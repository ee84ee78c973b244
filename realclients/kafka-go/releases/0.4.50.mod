module faultlab/kafka-go

go 1.25.0

require (
	faultlab/subject v0.0.0
	github.com/segmentio/kafka-go v0.4.50
)

require (
	github.com/klauspost/compress v1.15.9 // indirect
	github.com/pierrec/lz4/v4 v4.1.15 // indirect
)

replace faultlab/subject => ../subject
