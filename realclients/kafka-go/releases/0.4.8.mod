module faultlab/kafka-go

go 1.25.0

require (
	faultlab/subject v0.0.0
	github.com/segmentio/kafka-go v0.4.8
)

require (
	github.com/golang/snappy v0.0.1 // indirect
	github.com/klauspost/compress v1.9.8 // indirect
	github.com/pierrec/lz4 v2.0.5+incompatible // indirect
)

replace faultlab/subject => ../subject
