package embedded_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/testing/sandbox"
)

// A program that has an HTTP client of its own gives it another transport.
func ExampleDB_Transport() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	api := httptest.NewServer(sandbox.New(sandbox.Options{})) // stands in for https://api.anthropic.com
	defer api.Close()
	db, err := embedded.Open(context.Background(), filepath.Join(dir, "chat.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	client := &http.Client{Transport: db.Transport(), Timeout: time.Minute}
	r, err := http.NewRequest(http.MethodPost, api.URL+"/v1/messages", strings.NewReader(
		`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`))
	if err != nil {
		log.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	res, err := client.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output:
	// 200 OK
}
