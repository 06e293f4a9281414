// One open session: its stream, what is shown of it, and what the user does in it.
import { ApiError, call, session, started } from "./api.js";
import { Composer } from "./composer.js";
import { announce, button, count, el, failed, short, toast, visible } from "./dom.js";
import { titleOf } from "./side.js";
import { Stream } from "./stream.js";
import { Talk, pourNotice } from "./talk.js";
import { receipt } from "./why.js";

const byId = (id) => document.getElementById(id);
const runs = new Set(["user", "text", "thinking", "message", "call", "progress", "result", "status", "pour"]);

/** newKey returns a text that nobody has used: a message that is sent twice with it is said once. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

/** A Chat shows one session at a time. acts: opened(id), changed(), panel. */
export class Chat {
  constructor(acts) {
    this.acts = acts;
    this.id = this.session = this.stream = null;
    this.running = this.sending = false;
    this.sent = new Map(); // attachments by the text that they came with, to say it again
    this.talk = new Talk(byId("talk"), {
      decide: (c, verdict) => started(session(this.id, "approvals", c.id), verdict),
      again: (asked) => this.again(asked),
      edit: (asked) => this.edit(asked),
      why: (said, turn, b) => this.why(said, turn, b),
      goOn: () => this.goOn(),
      undo: (b) => this.acts.panel.change(b, this.id, "undo", undefined, "The pour was undone. The model sees the messages again."),
      retry: (p) => { this.talk.drop(p); this.talk.wait(p); p.failed = false; this.deliver(p); },
      withdraw: (p) => { this.talk.drop(p); this.composer.put(p.text, p.attachments); },
    });
    this.composer = new Composer({ say: (text, files) => this.say(text, files), stop: () => this.stop() });
    byId("retry").addEventListener("click", () => this.stream?.now());
    window.addEventListener("online", () => this.stream?.now());
    this.follow();
  }

  /** agents lets the user choose among more than one. */
  agents(list) {
    const place = byId("agent-place");
    place.replaceChildren();
    if (list.length < 2) return;
    this.choice = el("select", { "aria-label": "Agent of the new conversation" }, ...list.map((a) => el("option", { value: a.name, selected: a.name === "default" }, a.name)));
    place.append(this.choice);
    place.hidden = Boolean(this.id);
  }

  /** leave stops listening. */
  leave() {
    this.stream?.close();
    clearInterval(this.clock);
    this.stream = null;
  }

  /** open shows another session; null: the beginning of a new one. */
  open(id) {
    if (this.opened && id === this.id && (this.stream || !id)) return;
    this.opened = true;
    const same = id === this.id;
    this.leave();
    if (!same) {
      this.talk.pending = [];
      this.session = null;
      this.gauge(0, 0);
    }
    this.id = id;
    this.state(false);
    byId("banner").hidden = true;
    byId("agent-place").hidden = Boolean(id);
    byId("more-place").hidden = !id;
    this.describe(this.session);
    if (!id) this.talk.welcome();
    else this.listen(id);
    if (!id && matchMedia("(min-width: 761px)").matches) this.composer.input.focus();
  }

  listen(id) {
    if (!this.talk.pending.length) this.talk.clear();
    this.status("Loading\u2026");
    this.stream = new Stream(id, {
      event: (e) => { if (this.id === id) this.event(e); },
      state: (state, wait) => { if (this.id === id) this.connection(state, wait); },
      gone: (err) => { if (this.id === id) this.gone(err); },
    });
  }

  gone(err) {
    if (err.status === 401) return; // the login is shown
    this.status("");
    toast(err.status === 404 ? "This conversation does not exist any more." : err.message, { error: true });
    location.hash = "#/";
  }

  /** connection shows whether events come. */
  connection(state, wait) {
    clearInterval(this.clock);
    const banner = byId("banner"), was = !banner.hidden;
    banner.hidden = state === "online";
    if (state === "online") {
      if (was) announce("Connected again");
      for (const p of this.talk.pending.filter((p) => p.offline)) this.deliver(p);
      return;
    }
    const until = Date.now() + wait;
    const tell = () => { byId("banner-text").textContent = until - Date.now() < 900 ? "No connection. Trying again\u2026" : "No connection. Trying again in " + Math.ceil((until - Date.now()) / 1000) + " s"; };
    tell();
    this.clock = setInterval(tell, 1000);
  }

  /** event shows what has happened. */
  event(e) {
    const pinned = this.pinned || e.kind === "snapshot" && !this.session;
    this.talk.handle(e);
    if (e.kind === "snapshot") this.snapshot(e);
    else if (e.kind === "done") this.done();
    else if (runs.has(e.kind) && !this.running) this.state(true);
    if (e.kind === "status") this.status(e.text);
    else if (["text", "thinking", "call", "result"].includes(e.kind)) this.status(e.kind === "text" ? "" : "Working\u2026");
    if (e.window) this.gauge(e.size, e.window);
    this.composer.state(this.running, this.talk.waiting());
    if (pinned) this.toEnd();
  }

  snapshot(e) {
    if (e.session) this.describe(e.session);
    this.state(e.session?.running ?? false);
    this.readContext();
  }

  done() {
    this.state(false);
    this.readContext();
    call("GET", session(this.id)).then((s) => { if (s.id === this.id) this.describe(s); }, () => {});
    if (this.talk.strange) {
      const id = this.id;
      call("GET", session(id, "messages")).then((all) => { if (id === this.id && !this.running) this.talk.complete(all); }, () => {});
    }
    this.acts.changed();
  }

  state(running) {
    this.running = running;
    this.status(running ? "Working\u2026" : "");
    this.composer.state(running, this.talk.waiting());
  }

  status(text) {
    byId("status").hidden = !text;
    if (byId("status-text").textContent === text) return;
    byId("status-text").textContent = visible(text ?? "");
    if (text && text !== "Working\u2026" && text !== "Loading\u2026") announce(text);
  }

  describe(s) {
    this.session = s;
    byId("title").textContent = titleOf(s);
    document.title = (s ? titleOf(s) + " \u00b7 " : "") + "Decant";
  }

  readContext() {
    const id = this.id;
    call("GET", session(id, "context")).then((c) => {
      if (id !== this.id) return;
      this.context(c);
      if (this.acts.panel.shows === "context" && !this.acts.panel.body.contains(document.activeElement)) this.acts.panel.context(c, id);
    }, () => {}); // the gauge stays as it is
  }

  /** context shows what is known of the window. Notices of pours that have been undone go. */
  context(c, changed) {
    this.gauge(c.tokens, c.window);
    const points = c.checkpoints ?? [];
    if (changed) byId("talk").querySelectorAll(".pour").forEach((n) => n.remove());
    if (points.length && !byId("talk").querySelector(".pour")) this.mark(points.reduce((a, b) => (a.number > b.number ? a : b)));
  }

  /** mark puts the notice of the newest pour behind what its record stands for. */
  mark(p) {
    const notice = pourNotice(p, this.talk.acts.undo);
    const shown = this.talk.users.filter((u) => u.node), behind = shown.find((u) => u.index >= p.messages) ?? shown.at(-1);
    if (behind) behind.node.before(notice);
    else byId("talk").prepend(notice);
    if (this.pinned) this.toEnd();
  }

  gauge(size, window) {
    const g = byId("gauge"), share = window ? Math.min(100, (100 * size) / window) : 0;
    g.hidden = !window;
    g.classList.toggle("full", share > 80);
    g.querySelector("i").style.width = share + "%";
    byId("gauge-text").textContent = short(size) + " / " + short(window);
    g.title = count(size) + " of " + count(window) + " tokens are in the window";
  }

  /** say sends what the user has written. A session is made for the first message. */
  async say(text, attachments = []) {
    const p = { text, attachments, key: newKey() };
    if (attachments.length) this.sent.set(text, attachments);
    this.talk.wait(p);
    this.toEnd();
    try {
      if (!this.id) await this.create();
    } catch (err) {
      this.talk.refuse(p, err);
      return;
    }
    this.deliver(p);
  }

  /** create makes a session and opens it. */
  async create() {
    const s = await call("POST", "sessions", this.choice?.value ? { agent: this.choice.value } : {});
    this.id = s.id;
    this.describe(s);
    byId("agent-place").hidden = true;
    byId("more-place").hidden = false;
    this.listen(s.id);
    this.acts.opened(s.id);
    this.acts.changed();
  }

  /** deliver sends something until the service has it. The key keeps it from being said twice. */
  async deliver(p) {
    const id = this.id;
    p.offline = false;
    try {
      if (!id) await this.create();
      const told = await started(session(this.id, "messages"), { text: p.text, attachments: p.attachments }, { "Idempotency-Key": p.key });
      p.accepted = true;
      p.steered = told.steered === true;
      p.note.textContent = p.steered ? "Will be read at the next step" : "Sent";
    } catch (err) {
      if (!this.talk.pending.includes(p)) return; // its event came: it was said
      if (err instanceof ApiError) this.talk.refuse(p, err);
      else {
        p.offline = true;
        p.note.textContent = "Waits for the connection";
        setTimeout(() => { if (p.offline && this.id === id && this.talk.pending.includes(p)) this.deliver(p); }, 4000);
      }
    }
  }

  async stop() {
    if (!this.running || !this.id) return;
    this.status("Stopping\u2026");
    await call("POST", session(this.id, "stop")).catch(failed);
  }

  async goOn() {
    await started(session(this.id, "continue")).catch(failed);
  }

  /** indexOf returns the index of something that the user said. What was said since the last snapshot is looked up. */
  async indexOf(asked) {
    if (asked.index !== undefined) return asked.index;
    this.talk.complete(await call("GET", session(this.id, "messages")));
    if (asked.index === undefined) throw new Error("The conversation has changed. Open it again.");
    return asked.index;
  }

  /** again asks for another answer to the last thing that the user said. */
  async again(asked) {
    if (!asked) return;
    if (asked.attachments?.length && !this.files(asked)) {
      this.edit(asked);
      toast("This message had attachments, which the page no longer has. Attach them again in a new message.");
      return;
    }
    try {
      await this.rewind(asked, asked.text);
    } catch (err) {
      this.status("");
      failed(err);
    }
  }

  /** why shows under a turn what its answer rests on, or hides it again. */
  async why(said, turn, b) {
    const shown = turn.querySelector(":scope > .why");
    if (shown) shown.remove();
    b.setAttribute("aria-expanded", String(!shown));
    if (shown) return;
    b.disabled = true;
    try {
      if (said.index === undefined) {
        const all = await call("GET", session(this.id, "messages"));
        said.index = all.findLast((m) => m.role === "assistant" && m.text === said.text)?.index;
        if (said.index === undefined) throw new Error("The conversation has changed. Open it again.");
      }
      turn.append(receipt(await call("GET", session(this.id, "messages", said.index, "why"))));
      announce("What the answer rests on is shown below it");
    } catch (err) {
      b.setAttribute("aria-expanded", "false");
      failed(err);
    }
    b.disabled = false;
    b.focus();
    turn.querySelector(":scope > .why")?.scrollIntoView({ block: "nearest" });
  }

  files(asked) { return asked.attachments?.some((a) => a.data) ? asked.attachments : this.sent.get(asked.text); }

  async rewind(asked, text) {
    const files = this.files(asked) ?? [];
    this.status("Working\u2026");
    const index = await this.indexOf(asked);
    await call("POST", session(this.id, "rewind"), { message: index });
    await this.say(text, files);
  }

  /** edit turns something that the user said into a field: it is said anew here, or in a branch. */
  edit(asked) {
    const node = asked.node, body = node.querySelector(".body"), actions = node.querySelector(".actions");
    if (node.classList.contains("editing")) return;
    const shown = [...body.childNodes];
    const input = el("textarea", { "aria-label": "Message" });
    input.value = asked.text;
    const close = () => { node.classList.remove("editing"); body.replaceChildren(...shown); actions.hidden = false; actions.querySelector(".edit")?.focus(); };
    const go = async (f) => {
      const text = input.value.trim();
      if (!text) return;
      body.querySelectorAll("button").forEach((b) => { b.disabled = true; });
      try {
        await f(text);
      } catch (err) {
        failed(err);
        close();
      }
    };
    body.replaceChildren(input, el("p", { class: "soft small" }, "\u201cSend\u201d takes away what was said after this message. \u201cBranch\u201d keeps it, and goes on in a new conversation."),
      el("div", { class: "row end" }, button("Cancel", close), button("Branch", () => go((text) => this.branch(asked, text))), button("Send", () => go((text) => this.rewind(asked, text)), { class: "primary" })));
    input.addEventListener("keydown", (e) => { if (e.key === "Escape") { e.stopPropagation(); close(); } });
    actions.hidden = true;
    node.classList.add("editing");
    input.focus();
  }

  /** branch goes on from before a message in a new session. */
  async branch(asked, text) {
    const files = this.files(asked) ?? [], index = await this.indexOf(asked);
    const s = await call("POST", session(this.id, "fork"), { message: index });
    this.open(s.id);
    this.acts.opened(s.id);
    await this.say(text, files);
  }

  /** follow keeps the end in view while the user reads there. */
  follow() {
    const scroll = byId("scroll"), newest = byId("newest");
    this.pinned = true;
    const look = () => {
      this.pinned = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
      newest.hidden = this.pinned;
    };
    scroll.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(() => { if (this.pinned && !document.activeElement?.closest(".why, .why-button")) this.toEnd(); else look(); }).observe(byId("talk"));
    newest.addEventListener("click", () => { this.toEnd(); this.composer.input.focus(); });
  }

  toEnd() {
    const scroll = byId("scroll");
    scroll.scrollTop = scroll.scrollHeight;
    this.pinned = true;
    byId("newest").hidden = true;
  }
}
