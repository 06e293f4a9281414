package tracing

import (
	"slices"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler returns what decides which traces are recorded: a part of them, and those that the client records,
// unless the client does not count.
func sampler(ratio float64, alone bool) sdk.Sampler {
	s := sdk.TraceIDRatioBased(ratio)
	if !alone {
		s = sdk.ParentBased(s)
	}
	return linked{s}
}

// linked records work that stands behind requests if one of them is recorded.
type linked struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (l linked) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if len(p.Links) == 0 {
		return l.Sampler.ShouldSample(p)
	}
	if slices.ContainsFunc(p.Links, func(l trace.Link) bool { return l.SpanContext.IsSampled() }) {
		return sdk.SamplingResult{Decision: sdk.RecordAndSample}
	}
	return sdk.SamplingResult{Decision: sdk.Drop}
}
