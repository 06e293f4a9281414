// What an answer rests on: its sentences, and for each what stood in front of the model, and what of the conversation did not.
import { el, long, some, visible } from "./dom.js";

const verdicts = { sent: "sent", partly: "sent in part", unsent: "not sent", nothing: "nothing to look up" };
const forms = {
  verbatim: "sent word for word", instructions: "in the instructions", stub: "sent as a stub", outline: "sent in an outline", shortened: "sent shortened",
  record: "sent in the record of a pour", added: "in a text that Decant put in", left: "not sent at that moment",
};

/** receipt shows a receipt of the service. */
export function receipt(r) {
  return el("section", { class: "why", "aria-label": "What this answer rests on" },
    el("p", { class: "soft small" }, "This was in front of the model when it gave this answer: " + some(r.messages, "message") + ", of a conversation of " + some(r.said, "message") +
      ". Whether it used what it was sent, nobody can see."),
    r.sentences.length ? el("ol", {}, ...r.sentences.map(sentence)) : el("p", { class: "soft small" }, "The answer says nothing that could be looked up."));
}

function sentence(s) {
  const inside = el("div", { class: "inside" });
  const fill = () => { if (!inside.childElementCount) inside.append(...found(s)); };
  return el("li", {}, el("details", { data: { verdict: s.verdict }, on: { toggle: fill } },
    el("summary", {}, el("span", { class: "verdict" }, verdicts[s.verdict] ?? visible(s.verdict)), " ", el("span", { class: "said" }, visible(s.text))), inside));
}

/** found says what was found of a sentence. */
function found(s) {
  const out = [];
  if (s.verdict === "nothing") return [el("p", {}, "The sentence says nothing that could be looked up.")];
  if (s.verdict === "unsent") out.push(el("p", { class: "none" }, "Nothing that was sent says this."));
  if (s.missing?.length) out.push(el("p", { class: "none" }, "Nothing that was sent has: ", ...s.missing.flatMap((m, i) => [i ? ", " : "", el("code", {}, visible(m))])));
  out.push(...s.sources.map(source));
  if (s.unsent?.length) out.push(el("p", { class: "none" }, "This stood in the conversation and was not sent at that moment:"), ...s.unsent.map(source));
  return out;
}

function source(s) {
  return el("figure", {}, el("figcaption", {}, where(s)),
    el("blockquote", {}, s.before && long("span", s.before, { class: "soft" }), long("mark", s.quote), s.after && long("span", s.after, { class: "soft" })));
}

/** where says where a source stands, how it was sent, or how it went. */
function where(s) {
  const p = s.place, words = [];
  if (p) words.push("Message " + p.message + (p.kind === "result" && p.tool ? ", result of " + visible(p.tool) : p.kind === "use" && p.tool ? ", call of " + visible(p.tool) : p.role === "user" ? ", you" : ", the assistant"));
  words.push((s.form === "left" && s.pour ? "poured away in pour " + s.pour : forms[s.form] ?? visible(s.form)) + (s.handle ? " (" + visible(s.handle) + ")" : ""));
  return words.join("; ");
}
