package main

import (
	"encoding/json"
	"errors"
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
var roles = map[string]func(args []string) error{"nothing": nothing, "valid": valid, "proxy": proxy}

// nothing is what a program costs that has net/http in it.
func nothing([]string) error { return nil }

// validations is how often valid reads its file.
const validations = 20

// valid validates the JSON of a file, as a program does that looks at a request at all.
func valid(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for range validations {
		if !json.Valid(text) {
			return errors.New(args[0] + " is no JSON")
		}
	}
	return nil
}

// proxy is the reverse proxy of the standard library. It serves until its input ends.
func proxy(args []string) error {
	upstream, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: &httputil.ReverseProxy{
		Transport: &http.Transport{DisableCompression: true}, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(upstream) },
	}}
	go srv.Serve(l) // it ends with Close
	fmt.Println("http://" + l.Addr().String())
	io.Copy(io.Discard, os.Stdin)
	return srv.Close()
}
