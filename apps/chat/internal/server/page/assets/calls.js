// Calls of tools: what was asked for, what came back, and calls that wait to be allowed.
import { button, el, failed, long, visible } from "./dom.js";

const words = { runs: "running\u2026", done: "done", bad: "failed", waits: "waits for you", none: "no result" };

/** pretty writes arguments for people. */
const pretty = (args) => JSON.stringify(args ?? {}, null, 2);

/** brief is one line of arguments: the values, as far as they are short. */
function brief(args) {
  if (!args || typeof args !== "object") return "";
  const values = Object.values(args).map((v) => (typeof v === "string" ? v : JSON.stringify(v)) ?? "");
  return visible(values.join(" \u00b7 ").slice(0, 160).replace(/\s+/g, " "));
}

/** A CallView shows one call. decide(call, verdict) sends a verdict. */
export class CallView {
  constructor(call, decide) {
    this.call = {};
    this.decide = decide;
    this.node = el("div", { class: "call-place" });
    this.update(call, call.waiting ? "waits" : "runs");
  }

  /** update shows what is new of the call. */
  update(call, state) {
    Object.assign(this.call, call);
    this.call.waiting = state === "waits";
    this.state = state;
    this.node.replaceChildren(state === "waits" ? this.approval() : this.folded());
  }

  /** progress says how far the call is. */
  progress(text) {
    const place = this.node.querySelector(".state");
    if (place) place.textContent = visible(text.slice(0, 80));
  }

  /** ended shows a call without a result for what it is, when no run is under way. */
  ended() {
    if (this.state === "runs") this.update({}, "none");
  }

  folded() {
    const c = this.call, open = this.node.querySelector("details")?.open ?? false;
    const kind = { done: "good", bad: "bad" }[this.state] ?? "";
    const inside = el("div", { class: "inside" });
    const fill = () => {
      if (inside.childElementCount) return;
      inside.append(el("h4", {}, "Arguments"), el("pre", { tabindex: 0, "aria-label": "Arguments" }, long("code", pretty(c.arguments))));
      if (c.result !== undefined) inside.append(el("h4", {}, "Result"), el("pre", { tabindex: 0, "aria-label": "Result" }, long("code", c.result || "(empty)")));
    };
    const fold = el("details", { class: "call " + kind, open, data: { call: c.id }, on: { toggle: fill } },
      el("summary", {}, el("span", { class: "tool" }, visible(c.tool)), el("span", { class: "brief" }, brief(c.arguments)), el("span", { class: "state" }, this.state === "bad" && c.result?.startsWith(notAllowed) ? "denied" : words[this.state])), inside);
    if (open) fill();
    return fold;
  }

  approval() {
    const c = this.call;
    const place = el("div");
    const card = el("section", { class: "approval", "aria-label": "Approval", data: { call: c.id } },
      el("h3", {}, "May the agent use ", el("code", {}, visible(c.tool)), "?"),
      c.preview ? el("pre", { class: "diff", tabindex: 0, "aria-label": "What would change" }, ...diff(c.preview)) : null,
      c.preview ? el("details", {}, el("summary", {}, "Arguments"), el("pre", { tabindex: 0, "aria-label": "Arguments" }, long("code", pretty(c.arguments)))) :
        el("pre", { tabindex: 0, "aria-label": "Arguments" }, long("code", pretty(c.arguments))),
      el("div", { class: "row" },
        button("Allow", () => this.send(card, { kind: "allow" }), { class: "primary" }),
        button("Deny\u2026", () => place.replaceChildren(this.denial(card, place))),
        button("Edit\u2026", () => place.replaceChildren(this.edit(card, place)))),
      place);
    return card;
  }

  denial(card, place) {
    const reason = el("input", { type: "text", id: "reason-" + this.call.id, maxlength: 2000 });
    return this.form(card, place, "Reason, for the agent (may be empty)", reason, "Deny", () => ({ kind: "deny", reason: reason.value.trim() }));
  }

  edit(card, place) {
    const text = el("textarea", { id: "edit-" + this.call.id, spellcheck: "false" });
    text.value = pretty(this.call.arguments);
    return this.form(card, place, "Arguments, in JSON", text, "Run with these", () => {
      const args = JSON.parse(text.value);
      if (args === null || typeof args !== "object" || Array.isArray(args)) throw new Error("The arguments must be a JSON object, in braces.");
      return { kind: "edit", arguments: args };
    });
  }

  form(card, place, label, field, yes, verdict) {
    const wrong = el("p", { class: "error small", role: "alert" });
    const submit = (e) => {
      e.preventDefault();
      let v;
      try {
        v = verdict();
      } catch (err) {
        wrong.textContent = err instanceof SyntaxError ? "This is not valid JSON: " + err.message : err.message;
        return;
      }
      this.send(card, v);
    };
    const form = el("form", { on: { submit } }, el("label", { for: field.id }, label), field, wrong,
      el("div", { class: "row" }, el("button", { type: "submit", class: "primary" }, yes), button("Cancel", () => place.replaceChildren())));
    queueMicrotask(() => field.focus());
    return form;
  }

  async send(card, verdict) {
    const all = card.querySelectorAll("button");
    all.forEach((b) => { b.disabled = true; });
    try {
      await this.decide(this.call, verdict);
      if (this.state === "waits") this.update(verdict.arguments ? { arguments: verdict.arguments } : {}, "runs");
    } catch (err) {
      failed(err);
      all.forEach((b) => { b.disabled = false; });
    }
  }
}

const mostLines = 1000;

/** notAllowed begins the result of a call that a person has denied, in this tab or in another one. */
const notAllowed = "The user does not allow this call";

/** diff colours the lines of a preview. */
function diff(text) {
  const lines = text.split("\n");
  const head = lines.slice(0, mostLines).map((line) => {
    const kind = /^(\+\+\+|---|@@)/.test(line) ? "at" : line.startsWith("+") ? "add" : line.startsWith("-") ? "cut" : "";
    return long("span", line, { class: kind });
  });
  if (lines.length > mostLines) head.push(long("span", lines.slice(mostLines).join("\n")));
  return head;
}

/** stateOf says how far a call of a message is. */
export function stateOf(call, running) {
  if (call.waiting) return "waits";
  if (call.result === undefined && !call.error) return running ? "runs" : "none";
  return call.error ? "bad" : "done";
}
