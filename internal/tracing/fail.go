package tracing

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant/store"
)

// kindOf returns the kind of an error as one of a few words, because the text of an error may quote content.
func kindOf(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &name):
		return "name_resolution"
	case errors.As(err, &certificate):
		return "certificate"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection_reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection_closed"
	}
	return storeKind(err)
}

// storeKind is kindOf for errors of a store.
func storeKind(err error) string {
	for _, k := range []struct {
		err  error
		kind string
	}{{store.ErrConflict, "conflict"}, {store.ErrNotFound, "not_found"}, {store.ErrFull, "full"}, {store.ErrReadOnly, "read_only"}, {store.ErrBusy, "busy"}, {store.ErrMoved, "moved"}, {store.ErrClosed, "closed"}} {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return unknown
}

// failed marks a span as failed.
func failed(s trace.Span, kind string) {
	s.SetAttributes(errorType.String(kind))
	s.SetStatus(codes.Error, "")
}

// failedStatus marks a span as failed if its status is least or more.
func failedStatus(s trace.Span, status, least int) {
	if status >= least {
		failed(s, strconv.Itoa(status))
	}
}
