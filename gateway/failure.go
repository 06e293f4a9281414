package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/secret"
)

// statusLeft is the status under which a request counts whose client did not wait for the answer.
const statusLeft = 499

// refuseFailed answers a request for which the upstream gave no answer.
func (g *Gateway) refuseFailed(w http.ResponseWriter, r *http.Request, err error) {
	v := of(r.Context())
	v.failure = err
	gone := r.Context().Err() != nil
	body := v.body.Failed(gone)
	if !body.Stalled() && (gone || errors.Is(err, context.Canceled)) {
		v.status = statusLeft
		panic(http.ErrAbortHandler) // the client cannot read an answer any more
	}
	if body != nil {
		v.failure = nil // the client's failure and not the upstream's
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close") // the rest of the body is not waited for
		}
		refuse(w, v.api, body.Status, dialect.Invalid, "decant: "+body.Error())
		return
	}
	text := "decant: no answer from the upstream: " + reason(err)
	w.Header().Set(faultHeader, secret.OneLine(text))
	write(w, http.StatusBadGateway, v.api.Refuse(dialect.Failed, text))
}

// reason says why there is no answer, but not where the upstream is; the log does.
func reason(err error) string {
	var number syscall.Errno
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	switch {
	case errors.Is(err, modelhttp.ErrDestination):
		return modelhttp.ErrDestination.Error()
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &network) && network.Timeout():
		return "it took too long"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return "the gateway's log says why"
}
