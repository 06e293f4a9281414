// Package token says how large things are: it counts tokens, knows the models and reads the meter.
//
// There are three sources, best first. What a provider reported for a request is exact, so a [Meter]
// starts from the newest reported usage and estimates only what came after it. OpenAI's models use
// public vocabularies, so an [Estimator] for them counts exactly. For Claude and all other models an
// estimator weighs classes of characters in one pass, with coefficients fitted to the usage of real
// sessions; a [Calibration] learns how far one conversation is from that average. A [Catalog] knows
// windows, limits, prices and abilities of models, and has defaults for models that it does not know.
package token
