// The list of conversations.
import { call, session } from "./api.js";
import { ask, el, failed, iconButton, toast, visible, when } from "./dom.js";
import { openMenu } from "./menu.js";
import { whatIf } from "./whatif.js";

const pageSize = 50;

/** A Side lists the sessions. acts: current() is the id of the one that is open, gone(id) is called when one was removed, changed(session) when one was. */
export class Side {
  constructor(acts) {
    this.acts = acts;
    this.list = document.getElementById("sessions");
    this.search = document.getElementById("search");
    this.archived = document.getElementById("archived");
    this.sessions = [];
    this.ended = false;
    this.asked = 0;
    let timer;
    this.search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.load(), 200); });
    this.search.addEventListener("keydown", (e) => { if (e.key === "Escape" && this.search.value) { e.stopPropagation(); this.search.value = ""; this.load(); } });
    this.archived.addEventListener("click", () => {
      this.archived.setAttribute("aria-pressed", String(this.archived.getAttribute("aria-pressed") !== "true"));
      this.load();
    });
    this.list.addEventListener("scroll", () => { if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 200) this.more(); });
  }

  query(before) {
    const q = new URLSearchParams({ limit: String(pageSize) });
    if (this.search.value.trim()) q.set("q", this.search.value.trim());
    if (this.archived.getAttribute("aria-pressed") === "true") q.set("archived", "true");
    if (before) q.set("before", before);
    return "sessions?" + q;
  }

  /** load reads the list anew. */
  async load() {
    const asked = ++this.asked;
    try {
      const found = await call("GET", this.query());
      if (asked !== this.asked) return; // a newer question is under way
      this.sessions = found;
      this.ended = found.length < pageSize;
      this.draw();
    } catch (err) {
      if (!(err instanceof TypeError)) failed(err); // without a connection the banner says it
    }
  }

  async more() {
    if (this.ended || this.loading || !this.sessions.length) return;
    this.loading = true;
    const asked = this.asked;
    try {
      const found = await call("GET", this.query(this.sessions.at(-1).updated));
      if (asked === this.asked) {
        const known = new Set(this.sessions.map((s) => s.id));
        this.sessions.push(...found.filter((s) => !known.has(s.id)));
        this.ended = found.length < pageSize;
        this.draw();
      }
    } catch (err) {
      this.ended = true;
      failed(err);
    } finally {
      this.loading = false;
    }
  }

  draw() {
    this.late = this.list.querySelector("[role=menu]") !== null;
    if (this.late) return; // a menu that somebody reads hangs on an entry
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    const none = this.search.value ? "Nothing found." : this.archived.getAttribute("aria-pressed") === "true" ? "Nothing is archived." : "No conversations yet.";
    this.list.replaceChildren(...(this.sessions.length ? this.sessions.map((s) => this.entry(s)) : [el("li", { class: "none" }, none)]));
    if (focused) this.list.querySelector("[data-id=\"" + CSS.escape(focused) + "\"]")?.focus();
  }

  entry(s) {
    const current = s.id === this.acts.current();
    const state = s.waiting ? el("b", {}, "waits for you \u00b7 ") : s.running ? el("i", {}, "running \u00b7 ") : s.interrupted ? el("b", {}, "interrupted \u00b7 ") : null;
    const name = titleOf(s);
    const dots = iconButton("dots", "Actions for " + name, () => this.menu(dots, s), { "aria-haspopup": "menu", "aria-expanded": "false", data: { id: "menu-" + s.id } });
    return el("li", { class: current && "current" },
      el("a", { href: "#/s/" + encodeURIComponent(s.id), "aria-current": current && "page", title: name, data: { id: s.id } },
        el("span", { class: "name" }, name), el("span", { class: "about" }, state, when(s.updated), s.agent && s.agent !== "default" ? " \u00b7 " + visible(s.agent) : "")), dots);
  }

  /** menu shows what can be done with a session as a whole. */
  menu(anchor, s) {
    openMenu(anchor, [
      { label: "Rename", act: () => this.rename(s) },
      { label: s.archived ? "Bring back" : "Archive", act: () => this.archive(s) },
      { label: "What if\u2026", act: () => whatIf(s, (id) => { location.hash = "#/s/" + encodeURIComponent(id); this.load(); }) },
      { label: "Save as text", act: () => save(s, "text", ".txt") },
      { label: "Save as JSON", act: () => save(s, "json", ".json") },
      { label: "Delete\u2026", bad: true, act: () => this.remove(s) },
    ], () => queueMicrotask(() => { if (this.late) this.draw(); })); // its button has the focus by then
  }

  async rename(s) {
    const title = await ask({ title: "Rename the conversation", yes: "Rename", field: { label: "Title", value: s.title } });
    if (title) await this.change(s, { title });
  }

  async archive(s) {
    if (await this.change(s, { archived: !s.archived })) toast(s.archived ? "Brought back." : "Archived. It stays under \u201cArchived\u201d.");
  }

  async change(s, body) {
    try {
      this.acts.changed(await call("PATCH", session(s.id), body));
      await this.load();
      return true;
    } catch (err) {
      failed(err);
      return false;
    }
  }

  async remove(s) {
    const sure = await ask({ title: "Delete this conversation?", danger: true, yes: "Delete", no: "Keep it",
      text: "\u201c" + titleOf(s) + "\u201d and all that was said in it is removed. This cannot be undone. What is remembered stays until you forget it under Memories." });
    if (!sure) return;
    try {
      await call("DELETE", session(s.id));
      this.acts.gone(s.id);
      await this.load();
      toast("Deleted.");
    } catch (err) {
      failed(err);
    }
  }
}

/** titleOf returns what a session is called. */
export const titleOf = (s) => visible((s?.title || "New conversation").slice(0, 200));

/** save lets the browser keep a session as a file. */
function save(s, as, end) {
  const link = el("a", { href: new URL("v1/" + session(s.id, "export") + "?as=" + as, document.baseURI).href, download: titleOf(s).replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) + end });
  document.body.append(link);
  link.click();
  link.remove();
}
