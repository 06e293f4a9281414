// Package archive reads a stored conversation: every message as the client sent it, what the model is sent, the commit
// that made a checkpoint, and what each decision has saved and cost. It writes nothing.
package archive
