// What if: the newest thing that the user said, answered once more under something else, beside the answer that there is.
import { call, session } from "./api.js";
import { button, count, el, failed, long, some, toast, visible } from "./dom.js";

const presets = ["chat", "agent-loop", "default", "coding-session", "orchestrator"];

/** whatIf opens the dialog for a session. kept(id) is called when the new answer is kept: that session goes on from it. */
export function whatIf(s, kept) {
  const model = el("input", { id: "if-model", type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", placeholder: "the same" });
  const preset = el("select", { id: "if-preset" }, el("option", { value: "" }, "the same"), ...presets.map((p) => el("option", { value: p }, p)));
  const memory = el("select", { id: "if-memory" }, el("option", { value: "" }, "as it was"), el("option", { value: "off" }, "off"));
  const place = el("div", { class: "what-if", "aria-live": "polite" });
  const close = () => { asking.abort(); dialog.close(); dialog.remove(); };
  const asking = new AbortController();
  const ask = el("button", { type: "submit", class: "primary" }, "Answer once more");
  const form = el("form", { method: "dialog", on: { submit: (e) => { e.preventDefault(); run(); } } },
    el("h2", { id: "if-title" }, "What if?"),
    el("p", {}, "What you said last is answered once more under something else. Nothing is changed by it: a call that would change something is not made."),
    el("label", { for: "if-model" }, "Model"), model, el("label", { for: "if-preset" }, "Preset"), preset, el("label", { for: "if-memory" }, "Memory"), memory,
    place, el("div", { class: "row end" }, button("Close", close), ask));
  const dialog = el("dialog", { class: "wide", "aria-labelledby": "if-title", on: { cancel: (e) => { e.preventDefault(); close(); } } }, form);

  async function run() {
    const body = Object.fromEntries(Object.entries({ model: model.value.trim(), preset: preset.value, memory: memory.value }).filter(([, v]) => v));
    ask.disabled = true;
    place.replaceChildren(el("p", { class: "soft" }, "Answering\u2026"));
    try {
      const c = await call("POST", session(s.id, "what-if"), body);
      if (!asking.signal.aborted) place.replaceChildren(table(c), ...answers(c), el("div", { class: "row end" }, button("Keep the new answer", () => keep(c))));
    } catch (err) {
      place.replaceChildren();
      failed(err);
    }
    ask.disabled = false;
  }

  async function keep(c) {
    try {
      const k = await call("POST", session(s.id, "keep"), { session: c.would.session });
      close();
      toast("This conversation goes on from the new answer; the other one stays in the list." + (k.memories.length ? " " + some(k.memories.length, "memory", "memories") + " taken back." : ""));
      kept(k.session.id);
    } catch (err) {
      failed(err);
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  model.focus();
}

/** table shows both ways side by side. */
function table(c) {
  const known = (a, text) => (a.spent.turns ? text : "not known");
  const row = (name, of) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, visible(of(c.was))), el("td", {}, visible(of(c.would))));
  return el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Comparison" }, el("table", {},
    el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, "as it was"), el("th", { scope: "col" }, "what if"))),
    el("tbody", {},
      row("Model", (a) => a.model), row("Preset", (a) => a.preset), row("Memory", (a) => (a.memory ? "on" : "off")),
      row("Tokens", (a) => known(a, count(a.spent.tokens) + ", " + count(a.cached) + " from the cache")),
      row("Price", (a) => known(a, "$" + a.spent.usd.toFixed(4))), row("Seconds", (a) => known(a, a.seconds.toFixed(1))),
      row("Facts sent", (a) => (a.sent.known ? a.sent.held + " of " + a.sent.facts : "not known")),
      row("Used and not sent", (a) => a.sent.missing?.join(", ") || "\u2013"))));
}

/** answers shows what the model says in both ways. */
function answers(c) {
  const waits = (c.would.waits ?? []).map((w) => el("p", {}, "It would call " + visible(w.tool) + " " + visible(JSON.stringify(w.arguments)).slice(0, 300)));
  return [
    el("h3", {}, "As it was"), long("div", c.was.answer || "(no answer)", { class: "plain" }),
    el("h3", {}, "What if"), long("div", c.would.answer || "(no answer)", { class: "plain" }), ...waits,
  ];
}
