package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/chat/internal/console"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/userdir"
)

// talkAt talks at the terminal. Where output goes elsewhere, or the terminal can do no more, it is made of plain lines. open opens the chat.
func talkAt(s *process.Process, p *project.Project, open func(ctx context.Context, notices io.Writer) (*chat.Chat, func() error, error)) (err error) {
	ctx, stop := s.Context(syscall.SIGTERM)
	defer stop()
	in, out := s.In.(*os.File), process.File(s.Out)
	o := console.Options{
		Project: p, In: in, Out: out, Plain: !s.Shown || s.Getenv("TERM") == "dumb", History: historyFile(s), Signals: interrupts(ctx, s),
		Columns: func() (int, int) { return columnsOf(in) },
	}
	var done func() error
	o.Open = func(notices io.Writer) (t *chat.Chat, err error) {
		t, done, err = open(ctx, notices)
		return t, err
	}
	if o.Plain {
		o.Out = s.Out
	} else {
		state, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return fmt.Errorf("prepare the terminal: %w", err)
		}
		defer term.Restore(int(in.Fd()), state)
	}
	err = console.Run(ctx, o)
	if done != nil {
		err = errors.Join(err, done())
	}
	if errors.Is(err, context.Canceled) {
		return exit.Status(128 + int(syscall.SIGTERM))
	}
	return err
}

// columnsOf returns the size of a terminal, 80 and 24 where it is not known.
func columnsOf(f *os.File) (width, height int) {
	if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
		return w, h
	}
	return 80, 24
}

// interrupts tells of interrupts until the context ends.
func interrupts(ctx context.Context, s *process.Process) <-chan struct{} {
	signals, stop := s.Signals(os.Interrupt)
	out := make(chan struct{})
	go func() {
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case <-ctx.Done():
				return
			case out <- struct{}{}:
			}
		}
	}()
	return out
}

// historyFile returns the file of what was typed, empty where there is no place for it.
func historyFile(s *process.Process) string {
	dir, err := userdir.State(s.Getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "chat_history")
}
