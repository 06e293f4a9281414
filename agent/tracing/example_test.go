package tracing_test

import (
	"context"
	"log"

	"go.opentelemetry.io/otel"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tracing"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

// What an agent does is recorded where the program sends its other spans.
func ExampleWrap() {
	client, err := anthropic.New(anthropic.Options{Credential: provider.Key("x-api-key", "...")})
	if err != nil {
		log.Fatal(err)
	}
	db, err := embedded.Open(context.Background(), "agent.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	spans := tracing.Options{Spans: otel.GetTracerProvider(), Agent: "keeper", API: "anthropic"}
	speaker, o := tracing.Wrap(spans, client, agent.Options{Model: "claude-sonnet-4-5", Engine: db.Engine()})
	a, err := agent.New(speaker, o)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range a.Run(context.Background(), "What is new?") {
		if err != nil {
			log.Fatal(err)
		}
	}
}
