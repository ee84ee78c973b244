package main

import (
	"crypto/tls"

	"faultlab/subject"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// secure gives TLS and SASL, where the settings enable them, what a program has to bring: whom to trust, who it is, and a
// SCRAM client.
func secure(configuration *sarama.Config, launch subject.Launch) error {
	if configuration.Net.TLS.Enable {
		roots, err := launch.RootCAs()
		if err != nil {
			return err
		}
		configuration.Net.TLS.Config = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	sasl := &configuration.Net.SASL
	if !sasl.Enable {
		return nil
	}
	if launch.SASL != nil {
		if sasl.User == "" {
			sasl.User = launch.SASL.User
		}
		if sasl.Password == "" {
			sasl.Password = launch.SASL.Password
		}
	}
	if hash, found := hashes[sasl.Mechanism]; found {
		sasl.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{hash: hash} }
	}
	return nil
}

var hashes = map[sarama.SASLMechanism]scram.HashGeneratorFcn{
	sarama.SASLTypeSCRAMSHA256: scram.SHA256,
	sarama.SASLTypeSCRAMSHA512: scram.SHA512,
}

// scramClient is the one of Sarama's own example (examples/sasl_scram_client).
type scramClient struct {
	*scram.ClientConversation
	hash scram.HashGeneratorFcn
}

func (c *scramClient) Begin(user, password, authorizationID string) error {
	client, err := c.hash.NewClient(user, password, authorizationID)
	if err != nil {
		return err
	}
	c.ClientConversation = client.NewConversation()
	return nil
}
