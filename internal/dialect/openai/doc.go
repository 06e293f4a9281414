// Package openai is the dialects of OpenAI's two APIs for answers of a model, which many other servers speak
// as well. Doors and refusals they have in common. docs/reference/openai.md has the facts.
package openai
