// The conversation as it is shown. It is changed by events alone: a snapshot takes the place of everything, each other event adds to it.
import { CallView, stateOf } from "./calls.js";
import { announce, button, copy, count, el, icon, long, some, visible } from "./dom.js";
import { Markdown } from "./markdown.js";

const atFirst = 80; // messages that are drawn of a long conversation; a button draws more

const stops = {
  cancelled: "Stopped. What came of the answer stays.",
  failed: "The run has failed.",
  budget: "The budget of this run is spent. The answer above is the final one.",
  turns: "The limit of steps is reached. The answer above is the final one.",
  length: "The answer is longer than it may be.",
  refused: "The model refuses to answer this.",
};

/** A Talk shows a session. acts: decide, again, edit, branch, goOn, undo, retry, withdraw, why. */
export class Talk {
  constructor(node, acts) {
    this.node = node;
    this.acts = acts;
    this.pending = []; // what was sent and has not come back as an event
    this.clear();
  }

  clear() {
    this.turn = null; // the article of the assistant that grows
    this.live = null; // its Markdown that grows
    this.thought = null;
    this.said = null; // the newest answer of the turn: {text, index}
    this.calls = new Map();
    this.users = []; // {node, text, index, attachments}
    this.node.replaceChildren();
  }

  /** welcome shows what stands where there is no conversation. */
  welcome() {
    this.clear();
    this.node.append(el("div", { class: "welcome" }, el("img", { src: "page/icon.svg", alt: "", width: 56, height: 56 }),
      el("h2", {}, "What would you like to talk about?"),
      el("p", {}, "A conversation can go on for months. When it outgrows the model\u2019s window, older messages become a record, and nothing is lost.")));
  }

  /** handle shows an event. */
  handle(e) {
    const f = this["on_" + e.kind];
    if (f) f.call(this, e);
  }

  on_snapshot(e) {
    const messages = e.messages ?? [], running = e.session?.running ?? false;
    this.running(running);
    const said = messages.filter((m) => m.role === "user"), last = said.at(-1)?.text;
    this.pending = this.pending.filter((p) => (p.accepted ? p.steered && running : !(said.length > p.after && last === p.text)));
    for (const p of this.pending) p.after = said.length;
    this.draw(messages, running, messages.length > atFirst ? messages.length - atFirst : 0);
    if (e.partial) this.on_text({ text: e.partial });
    if (e.session?.interrupted) this.outcome({ stop: "interrupted" });
    this.pending.forEach((p) => this.node.append(p.node));
  }

  draw(messages, running, from) {
    this.clear();
    if (from > 0) this.node.append(button("Show " + some(from, "earlier message"), () => this.earlier(messages, from), { class: "earlier" }));
    for (const m of messages.slice(0, from)) if (m.role === "user") this.users.push({ node: null, text: m.text ?? "", index: m.index, attachments: m.attachments });
    for (const m of messages.slice(from)) this.message(m, running);
    if (!running && !this.waiting()) this.close();
  }

  /** earlier puts the messages that were left out in front, at their places. */
  earlier(messages, from) {
    const before = new Talk(el("div"), this.acts), height = this.node.scrollHeight, scroll = this.node.parentElement;
    const top = scroll.scrollTop;
    before.draw(messages.slice(0, from), false, 0);
    before.users.forEach((u, i) => { this.users[i] = u; });
    this.node.firstChild.replaceWith(...before.node.childNodes);
    scroll.scrollTop = top + this.node.scrollHeight - height;
  }

  message(m, running) {
    if (m.role === "user") {
      this.user(m.text ?? "", m.attachments ?? [], m.index);
      return;
    }
    if (m.text) {
      this.part().set(m.text);
      this.said = { text: m.text, index: m.index };
    }
    this.live = null;
    for (const c of m.calls ?? []) this.one(c, stateOf(c, running));
  }

  /** part begins a text of the assistant. */
  part() {
    const node = el("div", { class: "text" });
    this.place().insertBefore(node, this.place().querySelector(":scope > .actions"));
    this.live = new Markdown(node);
    return this.live;
  }

  /** place returns the article of the assistant's turn. */
  place() {
    if (!this.turn) {
      this.turn = el("article", { class: "assistant", "aria-label": "Assistant" });
      this.node.append(this.turn);
    }
    return this.turn;
  }

  user(text, attachments, index) {
    this.close();
    const one = { text, attachments, index };
    one.node = el("article", { class: "user", "aria-label": "You" },
      chips(attachments), el("div", { class: "body" }, long("div", text)),
      el("div", { class: "actions" },
        button("Copy", (e) => copy(text, e.target), { class: "quiet" }),
        button("Edit", () => this.acts.edit(one), { class: "quiet edit" })));
    this.users.push(one);
    this.node.append(one.node);
  }

  /** complete adds what events do not tell of what the user said: where it stands, and what was attached. What the service has said in the
   * user's name, to go on with an answer that was cut, has no event; it is passed over. */
  complete(messages) {
    this.strange = false;
    const said = messages.filter((m) => m.role === "user");
    for (let i = this.users.length - 1, k = said.length - 1; i >= 0 && k >= 0 && this.users[i].index === undefined; k--) {
      const one = this.users[i], m = said[k];
      if (one.text.trim() !== (m.text ?? "").trim()) continue;
      i--;
      one.index = m.index;
      if (!one.attachments?.length && m.attachments?.length) {
        one.attachments = m.attachments;
        one.node.prepend(chips(m.attachments));
      }
    }
  }

  /** close ends the turn of the assistant. */
  close() {
    this.settle();
    const turn = this.turn, said = this.said;
    this.turn = this.said = null;
    if (!turn || turn.querySelector(":scope > .actions")) return;
    const asked = this.users.at(-1);
    turn.append(el("div", { class: "actions" },
      button("Copy", (e) => copy(textOf(turn), e.target), { class: "quiet" }),
      said && button("Why?", (e) => this.acts.why(said, turn, e.target), { class: "quiet why-button", "aria-expanded": "false" }),
      button("Regenerate", () => this.acts.again(asked), { class: "quiet again" })));
  }

  /** settle ends the text that grows. */
  settle() {
    if (this.live) {
      this.live.draw();
      this.live.node.classList.remove("open-end");
    }
    this.live = this.thought = null;
  }

  on_user(e) {
    const text = e.text ?? "", at = this.pending.findIndex((p) => p.text === text && !p.failed);
    const mine = at >= 0 ? this.pending.splice(at, 1)[0] : null;
    mine?.node.remove();
    this.user(text, mine?.attachments ?? e.attachments ?? [], e.index);
    this.strange ||= !mine; // it was said elsewhere, or before the page was loaded
    this.pending.forEach((p) => this.node.append(p.node));
    this.running(true);
  }

  on_text(e) {
    if (!this.live) {
      this.part();
      this.live.node.classList.add("open-end");
    }
    this.live.add(e.text ?? "");
  }

  on_thinking(e) {
    if (!this.thought) {
      this.thought = el("div", { class: "plain", tabindex: 0, role: "region", "aria-label": "Thinking" });
      this.place().append(el("details", { class: "thinking" }, el("summary", {}, "Thinking"), this.thought));
    }
    if (this.thought.textContent.length < 50000) this.thought.append(visible(e.text ?? ""));
  }

  on_message(e) {
    if (e.text) {
      if (!this.live) this.part();
      this.live.set(e.text);
      this.said = { text: e.text };
    }
    this.settle();
  }

  one(call, state) {
    const known = this.calls.get(call.id);
    if (known) {
      known.update(call, state);
      return;
    }
    const view = new CallView(call, this.acts.decide);
    view.update(call, state);
    this.calls.set(call.id, view);
    this.settle();
    this.place().append(view.node);
  }

  on_call(e) { this.one(e.call, "runs"); }
  on_progress(e) { this.calls.get(e.call?.id)?.progress(e.text ?? ""); }
  on_result(e) { this.one({ result: "", ...e.call }, e.call.error ? "bad" : "done"); }

  on_approval(e) {
    this.one(e.call, "waits");
    announce("The agent asks whether it may use " + e.call.tool);
  }

  on_pour(e) {
    this.node.append(pourNotice(e.pour ?? {}, this.acts.undo));
    this.turn = this.live = null;
    announce("The conversation was poured");
  }

  on_warning(e) { this.place().append(el("div", { class: "notice warn" }, long("p", e.text ?? ""))); }

  on_done(e) {
    this.running(false);
    if (this.waiting()) this.settle(); // what follows a verdict belongs to the same turn
    else {
      this.close();
      for (const c of this.calls.values()) c.ended();
    }
    for (const p of this.pending.filter((p) => p.accepted && !p.steered)) this.drop(p);
    this.outcome(e.outcome ?? {});
    announce(e.outcome?.stop === "answered" ? "The answer is complete" : stops[e.outcome?.stop] ?? "");
  }

  /** outcome says why a run has ended without an answer, and what can be done. */
  outcome(o) {
    const text = o.stop === "interrupted" ? "This run was interrupted." : stops[o.stop];
    if (!text) return;
    const goOn = ["cancelled", "failed", "interrupted", "length"].includes(o.stop);
    this.node.append(el("div", { class: "notice outcome " + (o.stop === "failed" ? "bad" : "warn") }, el("p", {}, text),
      o.error && long("p", o.error), goOn && el("div", { class: "row" }, button("Continue", this.acts.goOn))));
  }

  /** running notes whether a run is under way. */
  running(is) {
    this.node.classList.toggle("running", is);
    if (is) this.node.querySelectorAll(".outcome").forEach((n) => n.remove());
  }

  /** waiting returns how many calls wait to be allowed. */
  waiting() { return [...this.calls.values()].filter((c) => c.state === "waits").length; }

  /** wait shows something that is being sent. */
  wait(p) {
    this.node.querySelector(".welcome")?.remove();
    p.after = this.users.length; // if it is among more, it was said
    p.note = el("div", { class: "note", role: "status" }, "Sending\u2026");
    p.node = el("article", { class: "user waits", "aria-label": "You, being sent" }, chips(p.attachments), el("div", { class: "body" }, long("div", p.text)), p.note);
    this.pending.push(p);
    this.node.append(p.node);
  }

  /** drop forgets something that was being sent. */
  drop(p) {
    p.node.remove();
    this.pending = this.pending.filter((q) => q !== p);
  }

  /** refuse shows that something was not taken. */
  refuse(p, err) {
    p.failed = true;
    p.note.className = "note error";
    p.note.replaceChildren(visible(err.message), " ", button("Try again", () => this.acts.retry(p), { class: "quiet small" }), button("Put it back", () => this.acts.withdraw(p), { class: "quiet small" }));
  }
}

/** textOf returns what the assistant said in a turn, as it is read. */
const textOf = (turn) => [...turn.querySelectorAll(":scope > .text")].map((n) => n.innerText).join("\n\n");

/** chips shows attachments. */
export function chips(list) {
  return list?.length ? el("ul", { class: "chips", "aria-label": "Attached" }, ...list.map((a) => el("li", {}, icon("clip"), visible(a.name || a.media_type || "file")))) : null;
}

/** recorded says what a checkpoint did. */
export const recorded = (p) => some(p.messages, "message") + " with " + some(p.before, "token") + " became a record of " + some(p.after, "token") + ".";

/** pourNotice says what a pour did, what was kept, and undoes it. It takes a pour of an event, or a checkpoint. */
export function pourNotice(p, undo) {
  const b = button("Undo", () => undo(b));
  return el("div", { class: "notice pour" },
    el("p", {}, el("strong", {}, "The conversation was poured. "),
      p.messages ? recorded(p) : (p.covered ? some(p.covered, "older message") + " became a record: " : "") + count(p.before) + " \u2192 " + count(p.after) + " tokens.", " Nothing is lost."),
    p.record && el("details", {}, el("summary", {}, "What was kept"), long("div", p.record, { class: "record", tabindex: 0, role: "region", "aria-label": "Record" })),
    el("div", { class: "row" }, b));
}
