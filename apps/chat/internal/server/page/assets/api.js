// The API of the service. Every request goes to where the page came from.

const base = new URL("v1/", document.baseURI);
let csrf = "";
let onLogin = () => {};

/** An ApiError is an answer that says what is wrong. */
export class ApiError extends Error {
  constructor(status, type, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.type = type;
  }
}

/** whenLoggedOut sets what happens when the service no longer knows who asks. */
export const whenLoggedOut = (f) => { onLogin = f; };

/** send makes a request and returns the response. An answer that is an error is thrown as an ApiError. */
export async function send(method, path, { body, headers = {}, signal, accept = "application/json" } = {}) {
  const init = { method, signal, credentials: "same-origin", cache: "no-store", headers: { Accept: accept, ...headers } };
  if (method !== "GET" && csrf) init.headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const res = await fetch(new URL(path, base), init);
  if (res.ok) return res;
  const told = await res.json().then((e) => e.error, () => null);
  const err = new ApiError(res.status, told?.type ?? "", told?.message ?? "The service answered " + res.status + ".");
  if (res.status === 401 && path !== "login") onLogin();
  throw err;
}

/** call makes a request and returns what the answer holds; null when it holds nothing. */
export async function call(method, path, body) {
  const res = await send(method, path, { body });
  return res.status === 204 ? null : res.json();
}

/** started makes a request that begins a run, and returns when it has begun. What happens then comes by the stream of events. */
export async function started(path, body, headers = {}) {
  const res = await send("POST", path, { body, headers, accept: "text/event-stream" });
  if ((res.headers.get("Content-Type") ?? "").startsWith("application/json")) return res.json();
  await res.body?.cancel();
  return {};
}

/** session returns the path of a session, or of something in it. */
export const session = (id, ...rest) => ["sessions", id, ...rest].map(encodeURIComponent).join("/");

/** me asks who the service takes the page for, and keeps the token for requests that change something. */
export async function me() {
  const user = await call("GET", "me");
  csrf = user.csrf ?? "";
  return user;
}

/** login changes a key for a cookie, which no script can read. */
export async function login(key) {
  const user = await call("POST", "login", { key });
  csrf = user.csrf ?? "";
  return user;
}

/** logout ends the cookie. */
export async function logout() {
  await call("POST", "logout");
  csrf = "";
}
