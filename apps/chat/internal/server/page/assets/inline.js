// What stands in a line of Markdown: code, emphasis, links. The result is a list of nodes.
import { el, visible } from "./dom.js";

const deepest = 6; // emphasis in emphasis
const longestLink = 2000; // characters of a link's text, or of its address
const marks = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const special = /[\\`*_~[\]!<\nh]/g;
const word = /[\p{L}\p{N}]/u;

/** address returns a link's address if it leads to where a link may lead, else null. */
export function address(text) {
  if (/[\s\u0000-\u001f]/.test(text)) return null;
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const link = (href, ...inside) => el("a", { href, title: href, target: "_blank", rel: "noopener noreferrer nofollow" }, ...inside);

/** inline returns the nodes of a text. */
export function inline(text, depth = 0) {
  const out = [], missing = new Set();
  let plain = "", i = 0;
  const add = (node) => {
    if (plain) out.push(visible(plain));
    plain = "";
    out.push(node);
  };
  while (i < text.length) {
    special.lastIndex = i;
    const at = special.exec(text)?.index ?? text.length;
    plain += text.slice(i, at);
    if ((i = at) >= text.length) break;
    const found = escape(text, i) ?? code(text, i, missing) ?? linked(text, i, depth) ?? bare(text, i) ?? emphasis(text, i, depth, missing);
    if (found) {
      if (typeof found.node === "string") plain += found.node;
      else add(found.node);
      i = found.end;
    } else if (text[i] === "\n") {
      plain = plain.trimEnd();
      add(el("br"));
      i++;
    } else {
      const run = text[i] === "`" || text[i] === "*" || text[i] === "_" || text[i] === "~" ? runAt(text, i) : 1;
      plain += text.slice(i, i + run);
      i += run;
    }
  }
  if (plain) out.push(visible(plain));
  return out;
}

function runAt(text, i) {
  let n = 1;
  while (text[i + n] === text[i]) n++;
  return n;
}

function escape(text, i) {
  if (text[i] !== "\\" || !/[!-/:-@[-`{-~]/.test(text[i + 1] ?? "")) return null;
  return { node: text[i + 1], end: i + 2 };
}

/** code finds what stands between two equal runs of backticks. missing holds the runs that have no second one further on. */
function code(text, i, missing) {
  if (text[i] !== "`") return null;
  const n = runAt(text, i), run = "`".repeat(n);
  if (missing.has(run)) return null;
  for (let at = text.indexOf(run, i + n); at >= 0; at = text.indexOf(run, at + 1)) {
    const end = runAt(text, at);
    if (end === n) return { node: el("code", {}, visible(trimmed(text.slice(i + n, at)))), end: at + n };
    at += end - 1;
  }
  missing.add(run);
  return null;
}

/** trimmed takes away the one space on both sides that lets code begin with a backtick. */
function trimmed(text) {
  const line = text.replace(/\n/g, " ");
  return line.length > 2 && line.startsWith(" ") && line.endsWith(" ") && line.trim() ? line.slice(1, -1) : line;
}

/** linked finds [text](address). An image is a link, too: nothing is fetched from elsewhere. Any other address leaves the text as it is. */
function linked(text, i, depth) {
  const image = text[i] === "!" && text[i + 1] === "[";
  if (!image && text[i] !== "[") return null;
  const from = i + (image ? 2 : 1), close = closing(text, from, "[", "]");
  if (close < 0 || text[close + 1] !== "(") return null;
  const end = closing(text, close + 2, "(", ")");
  const href = end < 0 ? null : address(text.slice(close + 2, end).trim().replace(/\s+["'(].*$/s, "").replace(/^<(.*)>$/, "$1"));
  if (!href) return null;
  const inside = text.slice(from, close);
  if (image) return { node: link(href, "Image: " + visible(inside || href)), end: end + 1 };
  return { node: link(href, ...(depth < deepest && inside ? inline(inside, deepest) : [visible(inside || href)])), end: end + 1 };
}

/** closing returns where a bracket that was opened before i is closed, -1 if that is not near. */
function closing(text, i, open, close) {
  const limit = Math.min(text.length, i + longestLink);
  for (let level = 1; i < limit; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === open) level++;
    else if (text[i] === close && --level === 0) return i;
  }
  return -1;
}

/** bare finds <address> and addresses that stand in the text. */
function bare(text, i) {
  if (text[i] === "<") {
    const end = text.slice(i, i + longestLink).indexOf(">");
    const href = end > 0 ? address(text.slice(i + 1, i + end)) : null;
    return href && { node: link(href, visible(text.slice(i + 1, i + end))), end: i + end + 1 };
  }
  if (text[i] !== "h" || (i > 0 && word.test(text[i - 1]))) return null;
  const m = /^https?:\/\/[^\s<>"`]+/.exec(text.slice(i, i + longestLink));
  if (!m) return null;
  let found = m[0].replace(/[.,;:!?*_~'\]]+$/, "");
  if (found.endsWith(")") && !found.includes("(")) found = found.replace(/[).,;:!?]+$/, "");
  const href = address(found);
  return href && { node: link(href, visible(found)), end: i + found.length };
}

function emphasis(text, i, depth, missing) {
  const mark = marks.find(([m]) => text.startsWith(m, i));
  if (!mark || depth >= deepest || missing.has(mark[0])) return null;
  const [m, tag] = mark, from = i + m.length;
  if (/\s/.test(text[from] ?? " ") || (m[0] === "_" && i > 0 && word.test(text[i - 1]))) return null;
  for (let at = text.indexOf(m, from); at >= 0; at = text.indexOf(m, at)) {
    const run = runAt(text, at);
    const fits = !/\s/.test(text[at - 1]) && at > from && (run === m.length || run === 3) && !(m[0] === "_" && word.test(text[at + run] ?? ""));
    if (fits) {
      const end = at + run - m.length;
      return { node: el(tag, {}, ...inline(text.slice(from, end), depth + 1)), end: end + m.length };
    }
    at += run;
  }
  missing.add(m);
  return null;
}
