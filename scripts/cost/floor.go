package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

// roleVariable says what this program is where it has started itself.
const roleVariable = "DECANT_COST_ROLE"

// roles are the floors.
var roles = map[string]func(args []string) error{"nothing": nothing, "rewrites": rewrites, "proxy": proxy}

// nothing is what a program costs that has net/http in it.
func nothing([]string) error { return nil }

// rewrite decodes JSON and encodes it again, as the plainest program does that changes a request. It asks for memory as such
// programs do. A floor that only scans or copies would not: where others take the caches or the host is another one, its time
// changes by another factor than that of what is measured, by more than the guard allows.
func rewrite(text []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// rewritten is how often rewrites does it.
const rewritten = 5

// rewrites rewrites the JSON of a file.
func rewrites(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for range rewritten {
		if _, err := rewrite(text); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	return nil
}

// proxy is the reverse proxy of the standard library, which rewrites the bodies of requests. It serves until its input ends.
func proxy(args []string) error {
	upstream, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	forward := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableCompression: true}, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(upstream) },
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			body, err = rewrite(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		forward.ServeHTTP(w, r)
	})}
	go srv.Serve(l) // it ends with Close
	fmt.Println("http://" + l.Addr().String())
	io.Copy(io.Discard, os.Stdin)
	return srv.Close()
}
