// The panel at the side: what fills the window of a conversation, or what is remembered beyond conversations.
import { call, session } from "./api.js";
import { ask, button, count, el, failed, iconButton, long, some, toast, visible, when } from "./dom.js";
import { recorded } from "./talk.js";

/** A Panel shows one of two things. acts: current() is the session that is open, context(c) is called when its context was read. */
export class Panel {
  constructor(acts) {
    this.acts = acts;
    this.node = document.getElementById("panel");
    this.title = document.getElementById("panel-title");
    this.body = document.getElementById("panel-body");
    this.shows = null;
    document.getElementById("panel-close").append(iconButton("close", "Close the panel", () => this.close()));
    this.node.addEventListener("keydown", (e) => { if (e.key === "Escape") { e.stopPropagation(); this.close(); } });
  }

  close() {
    this.node.hidden = true;
    this.shows = null;
    this.opener?.focus();
  }

  /** open shows one of "context" and "memory", or closes it when it is shown. */
  open(what, opener) {
    if (this.shows === what) {
      this.close();
      return;
    }
    this.opener = opener;
    this.shows = what;
    this.title.textContent = what === "context" ? "Context" : "Memories";
    this.body.replaceChildren(el("p", { class: "soft" }, "Loading\u2026"));
    this.node.hidden = false;
    this.title.focus();
    this.load();
  }

  /** load reads what is shown anew. */
  async load() {
    const what = this.shows;
    try {
      if (what === "memory") this.memory(await call("GET", "memory"));
      if (what === "context") await this.loadContext();
    } catch (err) {
      this.body.replaceChildren(el("p", { class: "error" }, visible(err.message)), button("Try again", () => this.load()));
    }
  }

  async loadContext() {
    const id = this.acts.current();
    if (!id) {
      this.body.replaceChildren(el("p", { class: "soft" }, "Nothing was said yet."));
      return;
    }
    const c = await call("GET", session(id, "context"));
    if (id !== this.acts.current()) return;
    this.acts.context(c);
    if (this.shows === "context") this.context(c, id);
  }

  context(c, id) {
    const share = c.window ? Math.min(100, (100 * c.tokens) / c.window) : 0;
    const bar = el("span", { class: "bar" }, el("i"));
    bar.firstChild.style.width = share + "%";
    const points = c.checkpoints ?? [];
    const spent = this.acts.spent();
    this.body.replaceChildren(
      el("p", {}, el("strong", {}, count(c.tokens) + " of " + count(c.window) + " tokens"), " are in the model\u2019s window."), bar,
      el("dl", { class: "facts" }, ...facts([
        ["Messages that are kept", count(c.messages)], c.sent !== undefined && ["Messages that the model is sent", count(c.sent)],
        ["Pours so far", count(c.cycle)], ["Memories were saved", some(c.flushes, "time")],
        spent?.tokens && ["Tokens used in all", count(spent.tokens)], spent?.usd && ["Cost in all", "$" + spent.usd.toFixed(spent.usd < 1 ? 4 : 2)],
      ])),
      this.next(c, id), points.length ? el("h3", {}, "Pours") : "", this.points(c, id));
  }

  /** next shows what a pour would do now. */
  next(c, id) {
    const n = c.next;
    const focus = el("input", { id: "focus", type: "text", maxlength: 500, placeholder: "Such as: the open questions", autocomplete: "off" });
    const go = el("button", { type: "submit", class: "primary" }, "Pour now");
    const form = el("form", { on: { submit: (e) => { e.preventDefault(); this.change(go, id, "pour", focus.value.trim() ? { focus: focus.value.trim() } : {}, "The conversation was poured."); } } },
      el("label", { for: "focus" }, "What matters most (may be empty)"), focus, el("p", {}), go);
    return el("section", { "aria-label": "The next pour" }, el("h3", {}, "The next pour"),
      c.hold && el("p", {}, "A pour was undone, so the next one waits until the window demands it."),
      n ? el("p", {}, "Now it would bring the conversation from ", el("strong", {}, count(n.before)), " to ", el("strong", {}, count(n.after)), " tokens" + (n.covered ? ", with a record in place of " + some(n.covered, "older message") : "") + ".") :
        el("p", { class: "soft" }, "There is nothing to pour now."),
      n?.record && el("details", {}, el("summary", {}, "What it would keep"), record(n.record)),
      n && form);
  }

  points(c, id) {
    const list = [...(c.checkpoints ?? [])].sort((a, b) => b.number - a.number);
    return el("ul", { class: "items" }, ...list.map((p, i) => {
      const undo = i === 0 && button("Undo", () => this.change(undo, id, "undo", undefined, "The pour was undone. The model sees the messages again."));
      return el("li", {}, el("div", { class: "row" }, el("strong", {}, "Pour " + p.number), el("span", { class: "soft small" }, when(p.created))),
        el("p", {}, recorded(p)),
        p.record && el("details", {}, el("summary", {}, "What was kept"), record(p.record)), undo);
    }));
  }

  async change(b, id, what, body, done) {
    b.disabled = true;
    try {
      const c = await call("POST", session(id, what), body);
      this.acts.context(c, true);
      if (this.shows === "context" && id === this.acts.current()) this.context(c, id);
      toast(done);
    } catch (err) {
      failed(err);
    }
    b.disabled = false;
  }

  memory(list) {
    if (!list.length) {
      this.body.replaceChildren(el("p", { class: "soft" }, "Nothing is remembered yet. What is worth knowing in other conversations is saved before a pour, and shown here."));
      return;
    }
    this.body.replaceChildren(
      el("p", { class: "soft" }, "This is known in every conversation, also in those that you begin later."),
      el("ul", { class: "items" }, ...list.map((m) => this.one(m))), el("p", {}),
      button("Forget everything\u2026", () => this.forgetAll(list.length), { class: "danger" }));
  }

  one(m) {
    const forget = button("Forget\u2026", () => this.forget(m), { class: "quiet" });
    return el("li", { data: { memory: m.id } }, long("p", m.text),
      el("p", { class: "soft small" }, [m.kind, m.scope].filter(Boolean).map((t) => visible(t)).join(" \u00b7 "), m.kind || m.scope ? " \u00b7 " : "", when(m.confirmed || m.created),
        m.times > 1 ? " \u00b7 confirmed " + some(m.times, "time") : ""),
      el("div", { class: "row" }, m.session ? el("a", { href: "#/s/" + encodeURIComponent(m.session) }, "Where it is from") : el("span", { class: "soft small" }, "Its conversation is gone"), forget));
  }

  async forget(m) {
    if (!await ask({ title: "Forget this?", text: visible(m.text.slice(0, 300)), yes: "Forget", no: "Keep it", danger: true })) return;
    await this.forgotten("memory/" + encodeURIComponent(m.id), "Forgotten.");
  }

  async forgetAll(n) {
    if (!await ask({ title: "Forget everything?", text: some(n, "memory", "memories") + " will be removed. This cannot be undone.", yes: "Forget everything", no: "Keep them", danger: true })) return;
    await this.forgotten("memory", "Everything was forgotten.");
  }

  async forgotten(path, done) {
    try {
      await call("DELETE", path);
      toast(done);
    } catch (err) {
      failed(err);
    }
    if (this.shows === "memory") {
      await this.load();
      this.title.focus();
    }
  }
}

const record = (text) => long("div", text, { class: "record", tabindex: 0, role: "region", "aria-label": "Record" });

const facts = (rows) => rows.filter(Boolean).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
