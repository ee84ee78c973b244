module faultlab/kafka-go

go 1.25.0

require (
	faultlab/subject v0.0.0
	github.com/segmentio/kafka-go v0.4.9
)

require (
	github.com/golang/snappy v0.0.1 // indirect
	github.com/klauspost/compress v1.9.8 // indirect
	github.com/pierrec/lz4 v2.0.5+incompatible // indirect
	github.com/xdg/scram v0.0.0-20180814205039-7eeb5667e42c // indirect
	github.com/xdg/stringprep v1.0.0 // indirect
	golang.org/x/crypto v0.0.0-20190506204251-e1dfcc566284 // indirect
	golang.org/x/text v0.3.0 // indirect
)

replace faultlab/subject => ../subject
