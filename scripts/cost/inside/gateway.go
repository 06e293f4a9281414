package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
)

// serve is a gateway as users have it, but that it waits longer where the machine is busy, so that each run makes the same
// pours. It serves until its input ends.
func serve(upstream, file string) error {
	u, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	db, err := embedded.Open(context.Background(), file, &embedded.Options{
		Logger: log, Engine: engine.Options{Timeouts: engine.Timeouts{Optional: time.Minute, Required: time.Minute}},
	})
	if err != nil {
		return err
	}
	g, err := gateway.New(gateway.Options{Engine: db.Engine(), Upstream: u, Logger: log})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, db.Close())
	}
	srv := &http.Server{Handler: g}
	go srv.Serve(l) // it ends with Shutdown
	fmt.Println("http://" + l.Addr().String())
	io.Copy(io.Discard, os.Stdin)
	return errors.Join(srv.Shutdown(context.Background()), db.Close())
}
