package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/decantdev/decant/apps/chat"
	chatserver "github.com/decantdev/decant/apps/chat/internal/server"
	"github.com/decantdev/decant/apps/chat/internal/server/page"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/preset"
)

// chatListen is where the chat service listens if nobody says otherwise: beside the gateway.
const chatListen = "127.0.0.1:4142"

// servedPreset is the policy of the agents of the service that name none, and what a pour that somebody asks for follows.
const servedPreset = "chat"

// instructions of the agent that there is before anybody has made one.
const servedInstructions = "You are a helpful assistant. People talk to you for months. Save with save_memory what must outlive this conversation: " +
	"preferences, decisions, key facts; correct what is no longer true. Look with recall before you say that you do not know."

// A chatService is the chat as a service, with everything behind it.
type chatService struct {
	db     *embedded.DB
	server *chatserver.Server
	ring   *keyring.Ring // nil until the database is open
	edge   *edge.Edge
	http   *http.Server
}

// serveChat serves agents until the process is told to stop. It says where, and what else is to be known.
func serveChat(s *process.Process, cfg *config.Config, o *chat.Options, where chatserver.Workspaces, hint string) (err error) {
	ctx, stop := s.Context()
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log, v := edge.Logger(cfg, s), &chatService{}
	defer func() {
		stop()
		err = errors.Join(err, v.close(time.Duration(cfg.Drain)))
	}()
	if err := v.open(ctx, cfg, o, where, log); err != nil {
		return err
	}
	scheme := "http"
	if v.edge.Encrypts() {
		scheme = "https"
	}
	fmt.Fprintf(s.Out, "The chat is at %s://%s\n", scheme, v.edge.Listener().Addr())
	v.edge.Warn(log)
	if hint != "" {
		fmt.Fprintln(s.Out, hint)
	}
	if err := v.server.Continue(ctx); err != nil {
		log.Error("a run that was interrupted does not go on", "error", err)
	}
	return v.run(ctx)
}

// open opens the database, and begins to listen.
func (v *chatService) open(ctx context.Context, cfg *config.Config, o *chat.Options, where chatserver.Workspaces, log *slog.Logger) (err error) {
	policy, err := preset.Load(servedPreset)
	if err != nil {
		return err
	}
	if v.db, err = o.Database(ctx, &embedded.Options{
		Account: o.Account, Logger: log, Recall: true, Budgets: v.allowed, NoMarkers: !cfg.AddMarkers,
		Engine: engine.Options{
			Preset: policy, Catalog: o.Catalog, Window: cfg.Window, Budgets: setup.Budgets(cfg), Adds: engine.Adds{DropBlock: cfg.DropBlock},
		},
	}); err != nil {
		return err
	}
	if v.ring, err = edge.StoredKeys(ctx, cfg, v.db.Store().TenantKeys, log); err != nil {
		return err
	}
	v.server, err = chatserver.New(chatserver.Options{
		Store: v.db.Store(), Engine: v.db.Engine(), Client: o.Client, Catalog: o.Catalog, Keys: v.ring, Hosts: append([]string{}, cfg.Hosts...), Page: page.Handler(), Logger: log,
		Workspaces: where, SessionUSD: o.USD, MaxBody: int64(cfg.BodyLimit),
		Default: chatserver.Agent{
			Name: chatserver.DefaultAgent, Model: o.Model, System: servedInstructions, Tools: []string{"save_memory", "recall", "forget"},
		},
	})
	if err != nil {
		return err
	}
	if v.edge, err = edge.New(ctx, cfg, v.ring, v.db.Store().TenantKeys, log); err != nil {
		return err
	}
	v.http = front.Server(v.server, log)
	return nil
}

// allowed returns what the keys of a tenant allow it to spend.
func (v *chatService) allowed(tenant string) (out []budget.Budget) {
	for _, a := range v.ring.Allowances(tenant) {
		out = append(out, budget.Budget(a))
	}
	return out
}

// run answers requests until the context ends.
func (v *chatService) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { v.edge.Listener().Close() })
	defer stop()
	if err := v.http.Serve(v.edge.Listener()); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// close ends everything. Runs under way have so long to end by themselves.
func (v *chatService) close(drain time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if v.server != nil {
		err = v.server.Close(ctx)
	}
	if v.http != nil {
		err = errors.Join(err, v.http.Close())
	}
	if v.edge != nil {
		err = errors.Join(err, v.edge.Close())
	}
	if v.db != nil {
		err = errors.Join(err, v.db.Close())
	}
	return err
}
