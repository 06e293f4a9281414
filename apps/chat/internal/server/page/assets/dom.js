// Small helpers around the DOM. Nothing here turns text into markup.

/** el makes an element. Properties: class, on (listeners by event), data (dataset); others become attributes, false and null are left out. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "class") node.className = value;
    else if (name === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** button makes a button with a label. */
export function button(label, onclick, props = {}) {
  return el("button", { type: "button", ...props, on: { click: onclick } }, label);
}

const SVG = "http://www.w3.org/2000/svg";
const paths = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M5.500 11.500 12 5l6.500 6.500",
  stop: "M7 7h10v10H7z",
  clip: "m20 11-8.500 8.500a5 5 0 0 1-7-7L13 4a3.400 3.400 0 0 1 4.800 4.800l-8.500 8.500a1.700 1.700 0 0 1-2.400-2.400L14.500 7.300",
  close: "M6 6l12 12M18 6 6 18",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  memory: "M6 4h12v16l-6-4-6 4z",
  down: "M12 5v14M5.500 12.500 12 19l6.500-6.500",
  out: "M14 5H6v14h8M10 12h10M17 8.500l3.500 3.500-3.500 3.500",
};

/** icon draws one of the page's symbols; it says nothing to screen readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [k, v] of Object.entries({ viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon icon-" + name })) svg.setAttribute(k, v);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/** iconButton makes a button that shows a symbol and is called by a label. */
export function iconButton(name, label, onclick, props = {}) {
  const b = button("", onclick, { "aria-label": label, title: label, ...props, class: "icon-button " + (props.class ?? "") });
  b.append(icon(name));
  return b;
}

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** visible replaces characters that steer a terminal, or the direction of text, by signs that show them. */
export function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(control, (c) => {
    const n = c.charCodeAt(0);
    if (n < 0x20) return String.fromCharCode(0x2400 + n);
    return n === 0x7f ? "\u2421" : "[U+" + n.toString(16).toUpperCase().padStart(4, "0") + "]";
  });
}

const mostShown = 20000; // characters of one text that are laid out at once
const piece = 5000; // characters of a piece of a longer one; browsers lay out only the pieces that are in view

/** long makes an element with a text of any length. Of a very long one the beginning is shown, and a button shows the rest. */
export function long(tag, text, props = {}) {
  const all = visible(text);
  if (all.length <= mostShown) return el(tag, props, all);
  const node = el(tag, props, all.slice(0, mostShown)), gap = document.createTextNode("\u2026 ");
  const more = button("Show all " + count(all.length) + " characters", () => {
    const parts = [];
    for (let i = mostShown; i < all.length; i += piece) parts.push(el("span", { class: "piece" }, all.slice(i, i + piece)));
    gap.remove();
    more.replaceWith(...parts);
  }, { class: "quiet small" });
  node.append(gap, more);
  return node;
}

/** count writes a number for people: 12,345. */
export const count = (n) => Math.round(n ?? 0).toLocaleString("en-US");

/** some writes how many of a thing there are. */
export const some = (n, one, many = one + "s") => count(n) + " " + (n === 1 ? one : many);

/** short writes a number of tokens in little room: 12.3K. */
export function short(n = 0) {
  if (n < 1000) return String(n);
  if (n < 1e6) return (n < 99500 ? (n / 1000).toFixed(1).replace(/\.0$/, "") : Math.round(n / 1000)) + "K";
  return (n / 1e6).toFixed(1).replace(/\.0$/, "") + "M";
}

/** when writes a time near now in words, an older one as a date. */
export function when(time) {
  const t = new Date(time), minutes = Math.floor((Date.now() - t) / 60000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 1) return "just now";
  if (minutes < 60) return minutes + " min ago";
  if (minutes < 24 * 60) return some(Math.floor(minutes / 60), "hour") + " ago";
  if (minutes < 7 * 24 * 60) return some(Math.floor(minutes / 1440), "day") + " ago";
  return t.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** announce tells something to screen readers, when they have time for it. */
export function announce(text) {
  const region = document.getElementById("announce");
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 50);
}

/** toast shows a line for a few seconds. One that reports an error stays until it is closed. */
export function toast(text, { error = false } = {}) {
  const line = el("div", { class: "toast" + (error ? " bad" : ""), role: error ? "alert" : "status" }, el("span", {}, visible(text)));
  line.append(iconButton("close", "Close this notice", () => line.remove()));
  const place = document.getElementById("toasts");
  while (place.childElementCount > 2) place.firstChild.remove();
  place.append(line);
  if (!error) setTimeout(() => line.remove(), 5000);
}

/** failed shows why something did not work. */
export const failed = (err) => { if (err?.name !== "AbortError") toast(err?.message || String(err), { error: true }); };

/** copy puts a text on the clipboard and says so on the button. */
export async function copy(text, b) {
  const label = b.textContent;
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyByHand(text);
    b.textContent = "Copied";
    announce("Copied");
  } catch {
    b.textContent = "Not allowed here";
  }
  setTimeout(() => { b.textContent = label; }, 1500);
}

/** copyByHand copies where the page came without TLS, and browsers keep the clipboard from it. */
function copyByHand(text) {
  const area = el("textarea", { class: "unseen" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not let the page copy");
}

/** ask opens a dialog and resolves to true, or to the text of its field, when the person says yes; else to null. */
export function ask({ title, text = "", yes, no = "Cancel", danger = false, field = null }) {
  return new Promise((resolve) => {
    const input = field && el("input", { id: "ask-field", type: "text", value: field.value ?? "", maxlength: 200, autocomplete: "off" });
    const close = (answer) => { dialog.close(); dialog.remove(); resolve(answer); };
    const agree = () => { if (!input || input.value.trim()) close(input ? input.value.trim() : true); };
    const form = el("form", { method: "dialog", on: { submit: (e) => { e.preventDefault(); agree(); } } },
      el("h2", { id: "ask-title" }, title), text && el("p", {}, text),
      input && el("label", { for: "ask-field" }, field.label), input,
      el("div", { class: "row end" }, button(no, () => close(null)), el("button", { type: "submit", class: danger ? "danger" : "primary" }, yes)));
    const dialog = el("dialog", { "aria-labelledby": "ask-title", on: { cancel: (e) => { e.preventDefault(); close(null); } } }, form);
    document.body.append(dialog);
    dialog.showModal();
    if (input) input.select();
    else if (danger) form.querySelector("button[type=button]").focus();
  });
}
