package subject

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	launchVariable = "FAULTLAB_SUBJECT"
	protocol       = 1
)

// Launch is the record that the lab starts a subject with. Durations among the settings are numbers of seconds.
type Launch struct {
	Protocol  int            `json:"protocol"`
	Client    string         `json:"client"`
	Version   string         `json:"version"`
	Bootstrap []string       `json:"bootstrap"`
	Topic     *string        `json:"topic"`
	Settings  map[string]any `json:"settings"`
	Producer  *string        `json:"producer"`
	Seed      int64          `json:"seed"`
	TLS       *TLS           `json:"tls"`
	SASL      *SASL          `json:"sasl"`
}

func launched() (Launch, error) {
	var launch Launch
	text, found := os.LookupEnv(launchVariable)
	if !found {
		return launch, errors.New(launchVariable + " is not set: this program is started by faultlab (docs/SUBJECT_PROTOCOL.md)")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&launch); err != nil {
		return launch, fmt.Errorf("%s: %w", launchVariable, err)
	}
	if launch.Protocol != protocol {
		return launch, fmt.Errorf("%s: protocol is %d, this subject speaks %d", launchVariable, launch.Protocol, protocol)
	}
	return launch, nil
}
