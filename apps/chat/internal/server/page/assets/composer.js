// The box in which the user writes, with what is attached.
import { el, failed, iconButton, toast, visible } from "./dom.js";

const largest = 20 << 20; // bytes of all attachments together; the service takes 32 MB of base64
const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const code = /\.(txt|md|csv|tsv|json|ya?ml|toml|ini|log|xml|html?|css|js|mjs|ts|tsx|jsx|go|py|rb|rs|java|kt|c|h|cc|cpp|cs|php|sh|sql|diff|patch|tex|conf)$/i;

/** mediaType returns what a file is to the service; null: it does not take it. */
function mediaType(file) {
  if (images.includes(file.type)) return file.type;
  if (/^text\/[\w.+-]+$/.test(file.type)) return file.type;
  if (code.test(file.name) || file.type === "application/json") return "text/plain";
  return null;
}

const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});

/** A Composer calls acts.say(text, attachments) and acts.stop(). */
export class Composer {
  constructor(acts) {
    this.acts = acts;
    this.form = document.getElementById("composer");
    this.input = document.getElementById("say");
    this.list = document.getElementById("files");
    this.files = [];
    this.running = false;
    this.busy = 0;
    const pick = document.getElementById("file");
    document.getElementById("clip-place").append(iconButton("clip", "Attach images or text files", () => pick.click()));
    pick.addEventListener("change", () => { this.attach(pick.files); pick.value = ""; });
    this.sendButton = iconButton("send", "Send", () => this.submit(), { class: "primary" });
    this.stopButton = iconButton("stop", "Stop (Esc)", () => acts.stop());
    document.getElementById("send-place").append(this.sendButton);
    document.getElementById("stop-place").append(this.stopButton);
    this.form.addEventListener("submit", (e) => { e.preventDefault(); this.submit(); });
    this.input.addEventListener("input", () => this.changed());
    this.input.addEventListener("keydown", (e) => this.key(e));
    this.input.addEventListener("keypress", (e) => { if (e.key === "Enter" && !e.shiftKey) e.preventDefault(); });
    this.input.addEventListener("paste", (e) => { if (e.clipboardData.files.length) { e.preventDefault(); this.attach(e.clipboardData.files); } });
    this.drops(document.getElementById("main"));
    this.changed();
  }

  key(e) {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    this.submit();
  }

  drops(place) {
    place.addEventListener("dragover", (e) => { e.preventDefault(); this.form.classList.add("drop"); });
    place.addEventListener("dragleave", () => this.form.classList.remove("drop"));
    place.addEventListener("drop", (e) => {
      e.preventDefault();
      this.form.classList.remove("drop");
      this.attach(e.dataTransfer.files);
    });
  }

  /** attach adds files that the service takes. */
  async attach(files) {
    this.busy++;
    this.changed();
    try {
      for (const file of files) {
        const media = mediaType(file), size = this.files.reduce((n, f) => n + (f.size ?? 0), file.size);
        if (!media) toast(visible(file.name) + " is neither an image (PNG, JPEG, GIF, WebP) nor a text file.", { error: true });
        else if (size > largest) toast("Attachments may have 20 MB together. " + visible(file.name) + " is too large.", { error: true });
        else this.files.push({ name: file.name || "pasted image", media_type: media, data: await base64(file), size: file.size, url: images.includes(media) ? URL.createObjectURL(file) : null });
      }
    } catch (err) {
      failed(err);
    }
    this.busy--;
    this.changed();
  }

  remove(file) {
    this.files = this.files.filter((f) => f !== file);
    if (file.url) URL.revokeObjectURL(file.url);
    this.changed();
    this.input.focus();
  }

  changed() {
    this.input.style.height = "auto";
    this.input.style.height = this.input.scrollHeight + "px";
    this.sendButton.disabled = this.busy > 0 || this.blocked || !this.input.value.trim();
    this.sendButton.parentElement.hidden = this.running && !this.input.value.trim();
    this.stopButton.hidden = !this.running;
    this.list.hidden = this.files.length === 0;
    this.list.className = "chips";
    this.draw();
    this.input.placeholder = this.blocked ? "Decide about the call above first" : this.running ? "Add something; it is read at the next step" : this.files.length ? "Say what to do with the files" : "Write a message";
  }

  /** draw shows what is attached, if that has changed. */
  draw() {
    if (this.drawn === this.files && this.list.childElementCount === this.files.length) return;
    this.drawn = this.files;
    this.list.replaceChildren(...this.files.map((f) => el("li", {}, f.url && el("img", { src: f.url, alt: "" }), visible(f.name),
      iconButton("close", "Remove " + visible(f.name), () => this.remove(f)))));
  }

  /** state shows whether a run is under way, and whether calls wait to be allowed. */
  state(running, waiting) {
    this.running = running;
    this.blocked = waiting > 0;
    this.changed();
  }

  /** put puts a text back, with what was attached. */
  put(text, attachments = []) {
    this.input.value = text;
    this.files = attachments;
    this.changed();
    this.input.focus();
  }

  submit() {
    const text = this.input.value.trim();
    if (!text || this.busy || this.blocked) return;
    const files = this.files;
    for (const f of files) if (f.url) URL.revokeObjectURL(f.url);
    this.input.value = "";
    this.files = [];
    this.changed();
    this.acts.say(text, files.map(({ name, media_type, data }) => ({ name, media_type, data })));
  }
}
