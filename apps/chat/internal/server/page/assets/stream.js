// The stream of events of a session. It is read by fetch and not by EventSource, so that it can say after which event it goes on.
import { ApiError, send, session } from "./api.js";

const silence = 45000; // milliseconds without a byte after which a connection is taken for dead; the service sends one every 15 s
const slowest = 15000; // milliseconds between two attempts at most

/** Lines splits what comes into events of text/event-stream. */
export class Lines {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.rest = "";
    this.data = [];
    this.id = "";
  }

  /** take reads the next piece. */
  take(text) {
    this.rest += text;
    let from = 0, end;
    while ((end = this.rest.indexOf("\n", from)) >= 0) {
      this.line(this.rest.slice(from, this.rest[end - 1] === "\r" ? end - 1 : end));
      from = end + 1;
    }
    this.rest = this.rest.slice(from);
  }

  line(line) {
    if (line === "") {
      if (this.data.length) this.onEvent(this.data.join("\n"), this.id);
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.data.push(value);
    if (name === "id") this.id = value;
  }
}

/** A Stream listens to a session until it is closed, over any number of connections. */
export class Stream {
  /** handlers: event(event), state("online" | "offline", milliseconds to the next attempt), gone(error). */
  constructor(id, handlers) {
    this.id = id;
    this.handlers = handlers;
    this.last = "";
    this.closed = false;
    this.tries = 0;
    this.wake = () => {};
    this.run();
  }

  close() {
    this.closed = true;
    this.abort?.abort();
    this.wake();
  }

  /** now tries again at once. */
  now() {
    this.tries = 0;
    this.wake();
  }

  async run() {
    while (!this.closed) {
      const err = await this.connect().catch((e) => e);
      if (this.closed) return;
      if (err instanceof ApiError && err.status < 500 && err.status !== 429) {
        this.closed = true;
        this.handlers.gone(err);
        return;
      }
      const wait = Math.min(slowest, 500 * 2 ** this.tries++) * (0.75 + Math.random() / 2);
      this.handlers.state("offline", wait);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.wake = () => { clearTimeout(timer); resolve(); };
      });
    }
  }

  async connect() {
    this.abort = new AbortController();
    let timer = setTimeout(() => this.abort.abort(), silence);
    try {
      const headers = this.last ? { "Last-Event-ID": this.last } : {};
      const res = await send("GET", session(this.id, "events"), { headers, signal: this.abort.signal, accept: "text/event-stream" });
      this.tries = 0;
      this.handlers.state("online", 0);
      const lines = new Lines((data, id) => this.deliver(data, id));
      const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.closed) return;
        clearTimeout(timer);
        timer = setTimeout(() => this.abort.abort(), silence);
        lines.take(value);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** deliver hands an event on. It counts as heard only when it was handled, and one that was heard is not handed on again. */
  deliver(data, id) {
    if (this.closed || (id && id === this.last)) return;
    this.handlers.event(JSON.parse(data));
    if (id) this.last = id;
  }
}
