// The blocks of Markdown: paragraphs, headings, lists, quotes, code, tables. A block has a type, its source, and what is in it. The work
// grows with the length of the text and never with its square, whatever a model writes.

const longLine = 2000; // characters of a line that is not looked at more closely; it is part of a paragraph

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?: {1,4}|\t|$)/;
const columns = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const match = (line, what) => (line.length > longLine ? null : what.exec(line));
const blank = (line) => line.trim() === "";

/** blocks splits a text. */
export function blocks(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const out = [];
  for (let i = 0; i < lines.length;) {
    if (blank(lines[i])) {
      i++;
      continue;
    }
    const from = i;
    const block = code(lines, i) ?? title(lines, i) ?? line(lines, i) ?? quoted(lines, i) ?? list(lines, i) ?? table(lines, i) ?? paragraph(lines, i);
    i = block.end;
    block.source = lines.slice(from, i).join("\n");
    out.push(block);
  }
  return out;
}

function code(lines, i) {
  const open = match(lines[i], fence);
  if (!open) return null;
  const mark = open[1], body = [];
  for (let k = i + 1; k < lines.length; k++) {
    const end = lines[k].length < 200 ? lines[k].trim() : "";
    if (end.startsWith(mark) && end === mark[0].repeat(end.length)) return { type: "code", language: open[2].trim(), text: body.join("\n"), end: k + 1 };
    body.push(lines[k]);
  }
  return { type: "code", language: open[2].trim(), text: body.join("\n"), end: lines.length };
}

function title(lines, i) {
  const m = match(lines[i], heading);
  if (!m) return null;
  return { type: "heading", level: m[1].length, text: lines[i].slice(m[0].length).trim().replace(/(^|[ \t])#+$/, ""), end: i + 1 };
}

function line(lines, i) {
  return match(lines[i], rule) ? { type: "rule", end: i + 1 } : null;
}

function quoted(lines, i) {
  if (!quote.test(lines[i])) return null;
  const body = [];
  for (; i < lines.length && quote.test(lines[i]); i++) body.push(lines[i].replace(quote, ""));
  return { type: "quote", text: body.join("\n"), end: i };
}

/** list reads the items that follow each other. What is indented belongs to the item above. */
function list(lines, i) {
  const first = match(lines[i], item);
  if (!first) return null;
  const ordered = /\d/.test(first[2]), items = [];
  while (i < lines.length) {
    const m = match(lines[i], item);
    if (!m || /\d/.test(m[2]) !== ordered || match(lines[i], rule)) break;
    const indent = Math.max(m[0].length, m[1].length + m[2].length + 1);
    const body = [lines[i].slice(m[0].length)];
    for (i++; i < lines.length; i++) {
      const inside = indented(lines[i], indent);
      if (blank(lines[i])) {
        const next = lines[i + 1];
        if (next === undefined || blank(next) || indented(next, indent) === null) break;
        body.push("");
      } else if (inside !== null) body.push(inside);
      else if (match(lines[i], item) || begins(lines[i]) || blank(lines[i - 1])) break;
      else body.push(lines[i].trimStart());
    }
    items.push(body.join("\n"));
    if (i < lines.length && blank(lines[i]) && i + 1 < lines.length && match(lines[i + 1], item)) i++;
  }
  return { type: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items, end: i };
}

/** indented returns a line without so much indentation; null if it has less. Two spaces are enough, as models often write no more. */
function indented(line, indent) {
  const room = line.length - line.trimStart().length;
  if (line.startsWith("\t")) return line.slice(1);
  return room >= Math.min(indent, 2) ? line.slice(Math.min(room, indent)) : null;
}

function table(lines, i) {
  const next = lines[i + 1];
  if (next === undefined || !lines[i].includes("|") || !next.includes("-") || !match(next, columns)) return null;
  const head = cells(lines[i]), align = cells(next).map(alignment), rows = [];
  if (head.length !== align.length || head.length > 40) return null;
  for (i += 2; i < lines.length && lines[i].includes("|") && !blank(lines[i]); i++) rows.push(cells(lines[i]).slice(0, head.length));
  return { type: "table", head, align, rows, end: i };
}

const alignment = (c) => (c.endsWith(":") ? (c.startsWith(":") ? "center" : "right") : "left");

/** cells splits a line at bars that no backslash is before. */
function cells(line) {
  const out = line.trim().replace(/^\|/, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));
  if (out.length > 1 && out.at(-1) === "") out.pop();
  return out;
}

function paragraph(lines, i) {
  const body = [lines[i]];
  for (i++; i < lines.length && !blank(lines[i]) && !begins(lines[i]); i++) body.push(lines[i]);
  return { type: "paragraph", text: body.join("\n"), end: i };
}

/** begins reports whether a line begins a block that ends a paragraph. */
function begins(line) {
  const m = match(line, item);
  return Boolean(match(line, fence) || match(line, heading) || match(line, rule) || quote.test(line) ||
    (m && (!/\d/.test(m[2]) || Number.parseInt(m[2], 10) === 1) && !blank(line.slice(m[0].length))));
}
