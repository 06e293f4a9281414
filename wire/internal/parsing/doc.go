// Package parsing is what all parsers share: it makes a conversation while a parser walks over its source.
//
// It knows no format. A [Source] is read by the spans of its values. A [Builder] numbers messages and blocks, gives
// results the names of their calls and keeps where each block stands; with the lines of a file it is [Lines]. What
// comes out is a [Document], with the layout that the parser has noted for writing views of it.
package parsing
