// Package summarize writes records by asking a model. A [Summarizer] is a [provider.Summarizer] that asks through a
// [owncalls.Asker].
//
// What is asked depends on what fits (sizes.go): the whole stretch in one call; else a call for each part of it, in whole
// rounds, whose answers are merged; and where calls for some parts fail, what the others say, with the gaps named. Where
// that fails, too, the error says why, and package policy goes on with the extractive record. A call may instead go on
// from the request that the provider has in its cache, where that is cheaper (ride.go).
//
// The conversation is data: it is quoted (source.go) between marks that nothing in it can know, credentials are masked,
// and the model is told to follow nothing in it (prompt.go). Its answer is not trusted (check.go): what is empty, refused,
// an error, in another language, too long or without form is no record; lines with names that stand nowhere in the
// messages are taken out. The model is told once what is wrong, then what can be repaired is repaired.
//
// Rules, files and the words of the user are never left to the model: what Decant itself writes of them stands beside.
package summarize
