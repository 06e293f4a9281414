// Package legal knows what the model APIs refuse, so that no request is refused because of Decant.
//
// [Check] holds a view against the rules of the API and the model that it is for and returns every
// violation: order of roles, pairing of calls and results, empty text, cache markers, thinking that
// must come back as it was. For models whose thinking is bound to everything before it that takes the conversation
// that the view was made of ([Rules.Of]); [CheckEdit] is that rule by itself. [Repair] makes broken history legal (a call that was
// interrupted, a result without its call, results in the wrong place) in a view, never in the transcript.
//
// Rules have words for ids, "tool-result-missing", which docs/reference/anthropic.md, "Rules", and
// docs/reference/openai.md, "Rules", explain. Everything here is a pure function of values.
package legal
