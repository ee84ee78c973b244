module faultlab/subject

go 1.25.0
