// Markdown that grows. Only nodes are made, never markup, and of an answer under way only the blocks that have changed are made anew.
import { blocks } from "./blocks.js";
import { button, copy, el, long, visible } from "./dom.js";
import { inline } from "./inline.js";

const mostRich = 100000; // characters of a text that is shown as Markdown; what follows is shown as it is
const longParagraph = 10000;
const deepest = 5; // lists in lists, quotes in quotes

/** A Markdown shows a text in a node. */
export class Markdown {
  constructor(node) {
    this.node = node;
    this.text = "";
    this.shown = []; // what each child shows
    this.cost = 0; // milliseconds of the last drawing
    this.drawn = 0; // when that was
  }

  /** add shows more of the text, at the next moment that the browser has. */
  add(text) {
    this.text += text;
    if (this.timer) return;
    const wait = Math.max(30, this.drawn + 4 * this.cost - performance.now());
    this.timer = setTimeout(() => this.draw(), wait);
  }

  /** set shows a text at once. */
  set(text) {
    if (text === this.text && !this.timer && this.drawn) return;
    this.text = text;
    this.draw();
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = 0;
    const began = performance.now();
    const next = blocks(this.text.slice(0, mostRich));
    if (this.text.length > mostRich) next.push({ type: "rest", source: this.text.slice(mostRich) });
    let same = 0;
    while (same < next.length && same < this.shown.length && next[same].source === this.shown[same].source && next[same].type === this.shown[same].type) same++;
    if (!this.grown(next, same)) {
      while (this.node.childNodes.length > same) this.node.lastChild.remove();
      this.node.append(...next.slice(same).map((b) => draw(b, 0)));
    }
    this.shown = next;
    this.drawn = performance.now();
    this.cost = this.drawn - began;
  }

  /** grown handles what is frequent: the last block is code to which lines came. Its button keeps the focus. */
  grown(next, same) {
    const was = this.shown[same], is = next[same];
    if (same !== next.length - 1 || same !== this.shown.length - 1 || was.type !== "code" || is.type !== "code" || was.language !== is.language) return false;
    const shown = this.node.lastChild.querySelector("code");
    if (is.text.length > 15000) return false;
    shown.textContent = visible(is.text);
    return true;
  }
}

/** markdown returns a node that shows a text. */
export function markdown(text, depth = 0) {
  return blocks(text).map((b) => draw(b, depth));
}

function draw(b, depth) {
  switch (b.type) {
    case "code": return code(b);
    case "heading": return el("h" + Math.min(6, b.level + 2), {}, ...inline(b.text.slice(0, longParagraph)));
    case "rule": return el("hr");
    case "quote": return el("blockquote", {}, ...inside(b.text, depth));
    case "list": return list(b, depth);
    case "table": return table(b);
    case "rest": return long("div", b.source, { class: "plain" });
    default: return b.text.length > longParagraph ? long("p", b.text, { class: "plain" }) : el("p", {}, ...inline(b.text));
  }
}

/** inside draws what a block holds; too deep in others it is text. */
function inside(text, depth) {
  return depth < deepest ? markdown(text, depth + 1) : [long("p", text, { class: "plain" })];
}

/** code shows a block of code. What is copied is the block as it is at that time. */
function code(b) {
  const text = long("code", b.text);
  const again = button("Copy", () => copy(text.querySelector("button") ? b.text : text.textContent, again), { class: "quiet small" });
  return el("div", { class: "code" },
    el("div", { class: "code-head" }, el("span", {}, visible(b.language.slice(0, 40)) || "text"), again),
    el("pre", { tabindex: 0, role: "region", "aria-label": "Code" + (b.language ? ", " + visible(b.language.slice(0, 40)) : "") }, text));
}

function list(b, depth) {
  const items = b.items.map((text) => {
    const task = /^\[([ xX])\] /.exec(text);
    const body = inside(task ? text.slice(4) : text, depth);
    const one = el("li", { class: task && "task" });
    if (task) one.append(el("input", { type: "checkbox", disabled: true, checked: task[1] !== " ", "aria-label": task[1] === " " ? "To do" : "Done" }));
    if (body[0]?.tagName === "P") one.append(...body.shift().childNodes);
    one.append(...body);
    return one;
  });
  return el(b.ordered ? "ol" : "ul", { start: b.ordered && b.start !== 1 ? b.start : null }, ...items);
}

function table(b) {
  const row = (tag, cells) => el("tr", {}, ...cells.map((c, i) => el(tag, { class: b.align[i], scope: tag === "th" ? "col" : null }, ...inline(c.slice(0, longParagraph)))));
  return el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Table" },
    el("table", {}, el("thead", {}, row("th", b.head)), el("tbody", {}, ...b.rows.map((r) => row("td", r)))));
}
