package subject

import (
	"crypto/x509"
	"errors"
)

// TLS is what a client has to know of brokers that take connections inside TLS alone.
type TLS struct {
	CA string `json:"ca"`
}

// SASL is what a client says where brokers ask who it is.
type SASL struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// RootCAs are the authorities that sign the brokers' certificates: nobody else is trusted.
func (launch Launch) RootCAs() (*x509.CertPool, error) {
	roots := x509.NewCertPool()
	if launch.TLS == nil {
		return roots, nil
	}
	if launch.TLS.CA == "" {
		return nil, errors.New("tls holds no `ca`: the PEM text of the authority that signs the brokers' certificates")
	}
	if !roots.AppendCertsFromPEM([]byte(launch.TLS.CA)) {
		return nil, errors.New("tls: `ca` holds no certificates in PEM")
	}
	return roots, nil
}
