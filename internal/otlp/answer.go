package otlp

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A laterError says that what was not taken now may be taken later.
type laterError struct {
	err   error
	after time.Duration // not earlier
}

// Error says why it was not taken.
func (e *laterError) Error() string { return e.err.Error() }

// Unwrap returns why it was not taken.
func (e *laterError) Unwrap() error { return e.err }

// refused returns what the status of a collector means. What its body says is left out: a collector that is none
// may write anything there.
func refused(res *http.Response) error {
	err := fmt.Errorf("the collector answers %d", res.StatusCode)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, bad := strconv.Atoi(res.Header.Get("Retry-After"))
		if bad != nil || seconds < 0 { // a date, or nothing
			seconds = 0
		}
		return &laterError{err, time.Duration(min(seconds, 3600)) * time.Second}
	}
	return err
}

// A rejection is what a collector has taken a request without.
type rejection struct {
	spans int64
}

func (r rejection) error() error {
	if r.spans == 0 {
		return nil
	}
	return fmt.Errorf("the collector has rejected %d spans", r.spans)
}

// readRejection reads how many spans a collector has rejected: partial_success.rejected_spans of its answer, fields
// 1 and 1. What cannot be read rejects nothing.
func readRejection(answer []byte) (out rejection) {
	partial, _ := field(answer)
	if _, n := field(partial); n < 1<<31 {
		out.spans = int64(n)
	}
	return out
}

// field returns the value of a message's field 1: its bytes or its number.
func field(message []byte) (text []byte, number uint64) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, 0
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(num, kind, message)
		switch {
		case size < 0:
			return nil, 0
		case num == 1 && kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(message)
		case num == 1 && kind == protowire.VarintType:
			number, _ = protowire.ConsumeVarint(message)
		}
		message = message[size:]
	}
	return text, number
}
