// Package wire reads and writes conversations in the formats that agents and model APIs use.
//
// [Parse] turns the bytes of a request body or of an agent's session file into a [Document]: the
// vocabulary of package decant on one side, and on the other a record of where in the source each
// message and each block stands. Nothing is decoded before somebody asks for a block's text, and
// nothing is ever encoded again that did not change: [Document.Render] takes a view of the
// conversation and splices into the source only what the view changed, so that unknown fields,
// unknown blocks, key order and spacing stay as the client wrote them, and a view without changes
// comes back as the very same bytes. [Encode] writes a conversation in another format from scratch,
// [Text] as plain text for people.
package wire
