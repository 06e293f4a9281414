// A menu under a button.
import { el } from "./dom.js";

let close = () => {};

/** openMenu shows choices, each {label, act, bad}, below a button. Arrow keys go through them, Escape goes back to the button. closed is called when it is gone. */
export function openMenu(anchor, choices, closed = () => {}) {
  close();
  const menu = el("div", { class: "menu", role: "menu" }, ...choices.map((c) =>
    el("button", { type: "button", role: "menuitem", class: c.bad && "bad", on: { click: () => { close(); anchor.focus(); c.act(); } } }, c.label)));
  const outside = (e) => { if (!menu.contains(e.target)) close(); };
  close = () => {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    anchor.setAttribute("aria-expanded", "false");
    close = () => {};
    closed();
  };
  menu.addEventListener("keydown", (e) => {
    const all = [...menu.children], at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      all[to % all.length].focus();
    } else if (e.key === "Escape" || e.key === "Tab") {
      e.preventDefault();
      e.stopPropagation();
      close();
      anchor.focus();
    }
  });
  anchor.setAttribute("aria-expanded", "true");
  anchor.after(menu);
  const at = anchor.getBoundingClientRect(), size = menu.getBoundingClientRect();
  menu.style.top = Math.max(6, Math.min(at.bottom + 4, innerHeight - size.height - 6)) + "px";
  menu.style.left = Math.max(6, Math.min(at.right - size.width, innerWidth - size.width - 6)) + "px";
  menu.firstChild.focus();
  document.addEventListener("pointerdown", outside, true);
}
