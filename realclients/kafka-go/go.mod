// Each release has its own module file in releases/: build with -modfile=releases/0.4.8.mod. Go asks for this one too.
module faultlab/kafka-go

go 1.25.0
