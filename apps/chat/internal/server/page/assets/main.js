// The page as a whole: who is logged in, which session is open, and what its parts do with each other.
import { call, login, logout, me, whenLoggedOut } from "./api.js";
import { Chat } from "./chat.js";
import { announce, ask, failed, iconButton, toast } from "./dom.js";
import { Panel } from "./panel.js";
import { Side } from "./side.js";

const byId = (id) => document.getElementById(id);
let side, panel, chat, user;

/** begin shows the login or the conversations. */
async function begin() {
  try {
    user = await me();
  } catch (err) {
    if (err.status !== 401) {
      toast("The service cannot be reached. The page tries again.", { error: true });
      setTimeout(begin, 3000);
    } else showLogin();
    return;
  }
  byId("toasts").replaceChildren();
  show();
}

function showLogin() {
  chat?.leave();
  byId("app").hidden = true;
  byId("login").hidden = false;
  document.title = "Log in \u00b7 Decant";
  byId("key").focus();
}

/** show builds the page once, and opens what its address names. */
async function show() {
  byId("login").hidden = true;
  byId("app").hidden = false;
  if (!chat) build();
  byId("logout-place").hidden = user.open;
  side.load();
  chat.agents(await call("GET", "agents").catch(() => []));
  route();
}

function build() {
  panel = new Panel({ current: () => chat.id, context: (c, changed) => chat.context(c, changed), spent: () => chat.session?.spent });
  chat = new Chat({ opened: (id) => { location.hash = "#/s/" + encodeURIComponent(id); }, changed: () => side.load(), panel });
  side = new Side({
    current: () => chat.id,
    gone: (id) => { if (id === chat.id) location.hash = "#/"; },
    changed: (s) => { if (s.id === chat.id) chat.describe(s); },
  });
  byId("menu-place").append(iconButton("menu", "Conversations", () => drawer(true), { "aria-expanded": "false", "aria-controls": "side" }));
  byId("side-close").append(iconButton("close", "Close the list", () => drawer(false)));
  byId("shade").addEventListener("click", () => drawer(false));
  const more = iconButton("dots", "Actions for this conversation", () => side.menu(more, chat.session), { "aria-haspopup": "menu", "aria-expanded": "false" });
  byId("more-place").append(more);
  byId("theme-place").append(iconButton("theme", "Change the theme", theme));
  byId("logout-place").append(iconButton("out", "Log out", leave));
  byId("new").addEventListener("click", () => { location.hash = "#/"; drawer(false); chat.composer.input.focus(); });
  byId("memories").addEventListener("click", (e) => { drawer(false); panel.open("memory", e.currentTarget); });
  byId("gauge").addEventListener("click", (e) => panel.open("context", e.currentTarget));
  byId("side").addEventListener("click", (e) => { if (e.target.closest("#sessions a")) drawer(false); });
  document.querySelector(".skip").addEventListener("click", (e) => { e.preventDefault(); byId("say").focus(); });
  window.addEventListener("hashchange", route);
  window.addEventListener("focus", () => { if (!byId("app").hidden) side.load(); });
  document.addEventListener("keydown", keys);
}

/** keys are those that work everywhere. */
function keys(e) {
  if (byId("app").hidden || document.querySelector("dialog[open]")) return;
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    drawer(true);
    byId("search").focus();
  } else if (e.key === "Escape") {
    if (byId("side").classList.contains("open")) drawer(false);
    else chat.stop();
  }
}

/** drawer opens or closes the list where there is no room for it beside the conversation. */
function drawer(open) {
  const narrow = matchMedia("(max-width: 760px)").matches, was = byId("side").classList.contains("open");
  byId("side").classList.toggle("open", open && narrow);
  byId("shade").hidden = !(open && narrow);
  byId("main").inert = open && narrow;
  const b = byId("menu-place").firstChild;
  b.setAttribute("aria-expanded", String(open && narrow));
  if (open && narrow) byId("side-close").firstChild.focus();
  else if (was) b.focus();
}

/** route opens the session that the address names. */
function route() {
  const m = /^#\/s\/(.+)$/.exec(location.hash);
  let id = null;
  try {
    id = m && decodeURIComponent(m[1]);
  } catch {
    id = null; // not an address that the page has made
  }
  chat.open(id);
  side.draw();
  if (panel.shows === "context") panel.load();
}

/** theme goes from the theme that is shown to the other one. */
function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("decant.theme", root.dataset.theme);
  announce(dark ? "Light theme" : "Dark theme");
}

async function leave() {
  if (!await ask({ title: "Log out?", text: "Conversations stay, and runs that are under way go on.", yes: "Log out" })) return;
  await logout().catch(failed);
  location.hash = "#/";
  location.reload();
}

byId("login-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  const key = byId("key"), wrong = byId("login-error"), b = e.target.querySelector("button");
  wrong.textContent = "";
  b.disabled = true;
  try {
    user = await login(key.value.trim());
    key.value = "";
    await show();
    chat.composer.input.focus();
  } catch (err) {
    wrong.textContent = err.status === 401 ? "This key is not known here." : err.message;
    key.select();
  }
  b.disabled = false;
});
window.addEventListener("storage", (e) => {
  if (e.key === "decant.theme" && e.newValue) document.documentElement.dataset.theme = e.newValue;
});
whenLoggedOut(() => { if (!byId("app").hidden) showLogin(); });
begin();
