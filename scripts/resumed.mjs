// Shows what the real Claude Code, Codex and pi send when they resume session files, as they are and as Decant has made
// them smaller. See scripts/resume, which starts this.
// usage: node scripts/resumed.mjs DECANT CLIENTS FILE...
// DECANT is the program; CLIENTS is a folder that holds node_modules of the three clients, as npm installs them. Prints a
// line for each file and target: the tokens that Decant printed, those that were sent, and the bytes of the history
// that were sent, less what the client sends for an empty session. The exit status is 1 when the client sends no less
// than before, or something else than was printed.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

const [decant, clients, ...files] = process.argv.slice(2);
const targets = ['60%', '30%', '10%'];
const counts = 'claude-sonnet-4-5'; // model whose tokens are counted
const most = 0.02; // of the tokens, between what was printed and what was sent; 50 in small sessions
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'decant-resumed-'));
process.on('exit', () => fs.rmSync(work, { recursive: true, force: true }));

const run = (program, args, options) => new Promise(done => execFile(program, args, { timeout: 300_000, maxBuffer: 1 << 28, ...options },
  (error, out, err) => done({ code: error ? error.code ?? 1 : 0, out, err })).stdin.end());

// The API answers every request with one word, and keeps the newest one with a conversation.
let newest;
const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const usage = { input_tokens: 9, output_tokens: 1 };
const answers = {
  messages: () => event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage } }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Fine.' } }) + event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) + event('message_stop', {}),
  responses: () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Fine.', annotations: [] }] };
    const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item], usage: { ...usage, total_tokens: 10 } };
    return event('response.created', { response: { ...response, status: 'in_progress', output: [] } }) +
      event('response.output_item.done', { output_index: 0, item }) + event('response.completed', { response });
  },
};
const api = http.createServer((q, w) => {
  const parts = [];
  q.on('data', c => parts.push(c)).on('end', () => {
    const kind = q.url.split('?')[0].split('/').pop();
    let body = Buffer.concat(parts);
    if (q.headers['content-encoding'] === 'zstd') body = zlib.zstdDecompressSync(body);
    if (q.method !== 'POST' || !answers[kind]) {
      w.writeHead(kind === 'count_tokens' ? 200 : 404, { 'content-type': 'application/json' });
      return w.end('{"input_tokens":9}');
    }
    const request = JSON.parse(body);
    if (kind === 'responses' || (request.tools || []).length > 1) newest = { kind, request };
    w.writeHead(200, { 'content-type': 'text/event-stream' });
    w.end(answers[kind]());
  });
}).on('upgrade', (q, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'));
await new Promise(done => api.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${api.address().port}`;

const project = path.join(work, 'project');
fs.mkdirSync(project);
await run('git', ['init', '-q', project]);
const home = () => fs.mkdtempSync(path.join(work, 'home-'));
const lines = text => text.toString().split('\n').flatMap(l => { try { return [JSON.parse(l)]; } catch { return []; } });
const env = { PATH: process.env.PATH, NO_COLOR: '1' };
const bin = name => path.join(clients, 'node_modules', name);
const platform = `${process.platform}-${process.arch}`;

// resume starts the client on a session, or without one, lets it say one thing, and returns what it sent.
const resume = {
  async 'claude-code'(text, all) {
    const at = home(), id = all.findLast(l => l.sessionId)?.sessionId;
    const model = all.findLast(l => l.message?.model?.startsWith('claude'))?.message.model ?? 'claude-sonnet-4-5'; // another one gets no thinking
    const args = ['-p', 'hi', '--model', model, '--dangerously-skip-permissions', '--output-format', 'json'];
    if (text) {
      const to = path.join(at, '.claude', 'projects', project.replace(/[^a-zA-Z0-9]/g, '-'));
      fs.mkdirSync(to, { recursive: true });
      fs.writeFileSync(path.join(to, id + '.jsonl'), text);
      args.push('--resume', id);
    }
    return run(bin(`@anthropic-ai/claude-code-${platform}/claude`), args, { cwd: project, env: {
      ...env, HOME: at, CLAUDE_CONFIG_DIR: path.join(at, '.claude'), IS_SANDBOX: '1', ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: 'sk-ant-made-up-0000000000',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1', DISABLE_COMPACT: '1',
    } });
  },
  async codex(text, all) {
    const at = home(), meta = all.find(l => l.type === 'session_meta')?.payload;
    fs.mkdirSync(path.join(at, 'codex'));
    const uses = all.findLast(l => l.type === 'turn_context')?.payload.model ?? 'gpt-6.2-sol'; // another one begins with a compaction
    fs.writeFileSync(path.join(at, 'codex', 'config.toml'), `model = "${uses}"\nmodel_auto_compact_token_limit = 100000000\n`);
    const args = ['exec', '-c', `openai_base_url="${base}/v1"`, '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check'];
    if (text) {
      const day = path.join(at, 'codex', 'sessions', '2026', '06', '01');
      fs.mkdirSync(day, { recursive: true });
      fs.writeFileSync(path.join(day, `rollout-2026-06-01T10-00-00-${meta.id}.jsonl`), text);
      args.push('resume', meta.id);
    }
    const arch = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
    const file = bin(`@openai/codex-${platform}/vendor/${arch}-unknown-linux-musl/bin/codex`);
    return run(file, [...args, 'hi'], { cwd: project, env: { ...env, HOME: at, CODEX_HOME: path.join(at, 'codex'), CODEX_API_KEY: 'sk-made-up' } });
  },
  async pi(text) {
    const at = home();
    fs.mkdirSync(path.join(at, '.pi', 'agent'), { recursive: true });
    fs.writeFileSync(path.join(at, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { anthropic: { baseUrl: base } } }));
    const args = ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5', '-p'];
    if (text) {
      const here = text.toString().replace(/"cwd":\s*"[^"]*"/, `"cwd":${JSON.stringify(project)}`); // pi wants the folder to exist
      fs.writeFileSync(path.join(at, 'session.jsonl'), here);
      args.push('--session', path.join(at, 'session.jsonl'));
    }
    return run(bin('node/bin/node'), [bin('@earendil-works/pi-coding-agent/dist/bundle/cli.js'), ...args, 'hi'], { cwd: project, env: { ...env, HOME: at, ANTHROPIC_API_KEY: 'sk-ant-made-up' } });
  },
};

// size returns the tokens of a request as Decant counts them, and the bytes of its history.
async function size(client, text) {
  newest = undefined;
  const all = text ? lines(text) : [];
  const said = await resume[client](text, all);
  if (!newest) throw new Error(`${client} sent nothing: ${(said.err + said.out).trim().slice(0, 900)}`);
  const file = path.join(work, 'request.json'), list = newest.request.messages ? 'messages' : 'input';
  const sent = newest.request[list], configures = m => m.role === 'developer' || m.role === 'system' || m.type === 'additional_tools';
  // Codex puts what the session began with first, which is the session's, and its own settings behind all that was said.
  const last = client === 'codex' && text ? sent.findLastIndex(m => m.role === 'assistant' || !m.role || JSON.stringify(m).includes('[Decant record')) : -1;
  const history = sent.filter((m, i) => !configures(m) || i < last && m.type !== 'additional_tools');
  fs.writeFileSync(file, JSON.stringify({ model: newest.request.model, max_tokens: 9, [list]: history }));
  if (process.env.KEEP) fs.writeFileSync(path.join(process.env.KEEP, `${client}-${text ? text.length : 0}.json`), JSON.stringify(newest.request, null, 1));
  const seen = JSON.parse((await run(decant, ['inspect', '--json', '--model', counts, file])).out);
  return { tokens: seen.live, bytes: Buffer.byteLength(JSON.stringify(history)) };
}

let failed = 0;
const number = n => n.toLocaleString('en').padStart(9);
console.log('file                                 target   printed      sent  off by   bytes sent     before  of before');
for (const file of files) {
  let text = fs.readFileSync(file);
  if (text[0] === 0x1f && text[1] === 0x8b) text = zlib.gunzipSync(text);
  const name = file.split('/').slice(-2).join('/').replace(/\.jsonl(\.gz)?$/, '').slice(-34).padEnd(34);
  const all = lines(text);
  const client = all.some(l => l.type === 'session_meta') ? 'codex' : all[0]?.type === 'session' ? 'pi' : 'claude-code';
  try {
    // Codex repeats the instructions that a session began with, so its empty session begins with them, too.
    const keeps = text.toString().split('\n').filter(l => /"type":\s*"(session_meta|turn_context)"/.test(l));
    const begun = client === 'codex' ? [keeps[0], keeps.at(-1), ''].join('\n') : null;
    const empty = await size(client, begun && Buffer.from(begun)), before = await size(client, text);
    for (const target of targets) {
      const out = path.join(work, 'out.jsonl'), report = path.join(work, 'report.json'), input = path.join(work, 'in.jsonl');
      fs.writeFileSync(input, text);
      fs.rmSync(out, { force: true });
      const c = await run(decant, ['compact', '--to', target, '--model', counts, '--report', report, '-o', out, input], { env: { ...env, HOME: home() } });
      if (!fs.existsSync(out)) { console.log(`${name} ${target.padStart(6)}   refused: ${c.err.trim().split('\n').pop()}`); continue; }
      const { messages, fixed } = JSON.parse(fs.readFileSync(report)).plan.after, printed = messages + (client === 'codex' ? fixed : 0);
      const after = await size(client, fs.readFileSync(out));
      const sent = after.tokens - empty.tokens, off = sent / printed - 1, bytes = after.bytes - empty.bytes, was = before.bytes - empty.bytes;
      const mended = /^note: /m.test(c.err); // of a damaged file the client reads less than Decant does
      const bad = Math.abs(sent - printed) > Math.max(most * printed, 50) || bytes >= was && !mended;
      failed += bad;
      console.log(`${name} ${target.padStart(6)} ${number(printed)} ${number(sent)} ${(off * 100).toFixed(1).padStart(6)}%    ${number(bytes)}  ${number(was)}     ${(bytes / was * 100).toFixed(0).padStart(3)}%${bad ? '  FAIL' : mended ? '  mended' : ''}`);
    }
  } catch (e) {
    failed++;
    console.log(`${name}  FAIL ${e.message}`);
  }
}
process.exit(failed ? 1 : 0);
