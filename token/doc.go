// Package token says how large things are: it counts tokens, knows the models and reads the meter.
//
// Three sources of truth, best first. What a provider reported for a request is exact, so the
// [Meter] starts from the newest usage numbers and estimates only what came after them. OpenAI
// models read text in a public vocabulary, so an [Estimator] for them counts exactly. For Claude and
// everything else an estimator weighs classes of characters in one pass, with coefficients that were
// fitted on the usage numbers of real sessions; a [Calibration] learns how far a particular
// conversation is from that average. A [Catalog] knows windows, limits, prices and abilities of
// models, and states a default for a model that it does not know.
package token
