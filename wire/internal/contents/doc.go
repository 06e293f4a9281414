// Package contents reads what a block says: a text, or a list of texts, images and documents, as all formats write
// them.
//
// A content stays in the source until somebody reads it (see [Lazy]).
package contents
