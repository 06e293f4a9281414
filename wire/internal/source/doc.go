// Package source reads and edits the JSON that a conversation is read from, where it stands in the bytes.
//
// Three layers, each on top of the one before:
//
//   - values: [Members], [Elements] and [Splice] find and replace parts of JSON text, [Object] writes new objects;
//   - contents: what a block says, a text or a list of texts, images and documents, which stays encoded until
//     somebody reads it ([Lazy]);
//   - conversations: a [Builder] collects messages and blocks with their places in the source, [Lines] does so
//     for the lines of a session file. Both end in a [Document].
package source
