// Package mcpserver serves what a store holds to agents, over the Model Context Protocol: passages of everything that was
// said and shown before, the originals behind handles, checkpoints, rules, and memories.
//
// What a tool returns is bounded and says how to get more. Nothing is written unless the options allow it, and nothing of
// another tenant is reached. Passages are quoted as what they are, data from earlier; a model's word confirms nothing: the
// tool confirm looks the user's words up in the store.
package mcpserver
