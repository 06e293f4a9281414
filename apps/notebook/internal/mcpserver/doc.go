// Package mcpserver serves a store to agents over the Model Context Protocol: passages of earlier messages
// and tool results, the originals behind handles, checkpoints, rules and memories.
//
// Results are limited in size and say how to get more. Nothing is written unless the options allow it, and
// other tenants cannot be reached. Passages are marked as data from earlier. A model cannot confirm a rule:
// the tool confirm looks for the user's own words in the store.
package mcpserver
