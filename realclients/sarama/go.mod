// Each release has its own module file in releases/: build with -modfile=releases/1.27.2.mod. Go asks for this one too.
module faultlab/sarama

go 1.25.0
