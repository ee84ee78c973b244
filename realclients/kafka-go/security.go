package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"reflect"

	"faultlab/subject"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// secured adds the words of a Dialer's TLS and SASL: whom to trust and who it is come with the launch record.
func secured(known map[reflect.Type]subject.Spelled, launch subject.Launch) {
	known[reflect.TypeFor[*tls.Config]()] = func(text string) (any, error) {
		switch text {
		case "nil":
			return nil, nil
		case "lab":
			roots, err := launch.RootCAs()
			return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, err
		}
		return nil, fmt.Errorf("is nil or lab, not %q", text)
	}
	known[reflect.TypeFor[sasl.Mechanism]()] = func(text string) (any, error) {
		if text == "nil" {
			return nil, nil
		}
		who := launch.SASL
		if who == nil {
			return nil, errors.New("needs a user and a password: the launch record has no sasl")
		}
		switch text {
		case "PLAIN":
			return plain.Mechanism{Username: who.User, Password: who.Password}, nil
		case "SCRAM-SHA-256":
			return scram.Mechanism(scram.SHA256, who.User, who.Password)
		case "SCRAM-SHA-512":
			return scram.Mechanism(scram.SHA512, who.User, who.Password)
		}
		return nil, fmt.Errorf("is nil, PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, not %q", text)
	}
}
