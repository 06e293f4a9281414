// Package passage finds passages of texts by words: those that have the rarest words of a query, and most of them,
// come first (BM25).
//
// A name is found whole and by its parts, so that "checkpoint id" finds parseCheckpointID,
// parse_checkpoint_id and src/checkpoint/id.go. Texts of scripts without spaces are found by each two
// neighbouring characters. A text is cut into passages of a few lines, because an answer is usually in a few
// lines of a long result; of each text the best passage is found. Nothing is learned, and nothing is read but
// the texts.
package passage
