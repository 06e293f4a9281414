// Package legal knows what the model APIs refuse, so that no request is refused because of Decant.
//
// [Check] compares a view with the rules of its API and model and returns every violation: order of
// roles, pairing of calls and results, empty text, cache markers, thinking that must come back
// unchanged. To check bound thinking it needs the conversation that the view was made of ([Rules.Of]);
// [CheckEdit] is that rule by itself. [Repair] makes broken history legal (an interrupted call, a
// result without its call, results in the wrong place) in a view, never in the transcript.
//
// The ids of rules are words, such as "tool-result-missing"; docs/reference/anthropic.md, "Rules", and
// docs/reference/openai.md, "Rules", explain them. Everything here is a pure function of values.
package legal
