package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	chatserver "github.com/decantdev/decant/apps/chat/internal/server"
	"github.com/decantdev/decant/apps/chat/internal/server/page"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/exit"
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
}

// serveChat serves agents until the process is told to stop. It says where, and what else is to be known. settings returns
// the current configuration, for hangups.
func serveChat(s *process.Process, cfg *config.Config, o *chat.Options, where chatserver.Workspaces, hint string, settings func() (*config.Config, error)) error {
	hangups, stopHangups := s.Signals(syscall.SIGHUP)
	defer stopHangups()
	ctx, stop := s.Context()
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log, v := edge.Logger(cfg, s), &chatService{}
	defer front.Tend(ctx, time.Duration(cfg.Drain), log)()
	if err := v.open(ctx, cfg, o, where, log); err != nil {
		stop()
		return errors.Join(err, v.close())
	}
	scheme := "http"
	if v.edge.Encrypts() {
		scheme = "https"
	}
	fmt.Fprintf(s.Out, "The chat is at %s://%s\n", scheme, v.edge.Listener().Addr())
	if hint != "" {
		fmt.Fprintln(s.Out, hint)
	}
	if err := v.server.Continue(); err != nil {
		log.Error("runs that were interrupted do not go on yet", "error", err)
	}
	return errors.Join(v.edge.Serve(ctx, stop, hangups, settings, v.server.Serve), v.close())
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
	rules, err := rulesIn(&cfg.Tools)
	if err != nil {
		return exit.Usage(err)
	}
	v.server, err = chatserver.New(chatserver.Options{
		Tools: func(string) ([]agent.Tool, error) { return o.Tools, nil }, Rules: rules,
		Store: v.db.Store(), Engine: v.db.Engine(), Client: o.Client, Catalog: o.Catalog, Keys: v.ring, Hosts: append([]string{}, cfg.Hosts...), Page: page.Handler(), Logger: log,
		Workspaces: where, SessionUSD: o.USD, MaxBody: int64(cfg.BodyLimit), Memory: edge.BodyMemory(cfg),
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
	return nil
}

// allowed returns what the keys of a tenant allow it to spend.
func (v *chatService) allowed(tenant string) (out []budget.Budget) {
	for _, a := range v.ring.Allowances(tenant) {
		out = append(out, budget.Budget(a))
	}
	return out
}

// close closes the database.
func (v *chatService) close() error {
	if v.db == nil {
		return nil
	}
	return v.db.Close()
}
