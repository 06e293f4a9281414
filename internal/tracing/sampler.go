package tracing

import (
	"slices"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler returns the sampler that decides which traces are recorded: a share of them and, unless alone, those that
// the client records.
func sampler(ratio float64, alone bool) sdk.Sampler {
	s := sdk.TraceIDRatioBased(ratio)
	if !alone {
		s = sdk.ParentBased(s)
	}
	return linked{s}
}

// linked records work that follows requests if one of the requests is recorded.
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
