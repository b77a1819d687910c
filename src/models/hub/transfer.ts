/**
 * Downloads one file from the hub: fetches its metadata (HEAD), resumes partial downloads and verifies the hub's
 * checksum. The protocol is that of https://huggingface.co. Large files are redirected to another host and described by
 * X-Linked-Etag (their SHA-256) and X-Linked-Size. Small files have their git blob id as ETag.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { diskFull, isDiskFull, type Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';

/** A `fetch` function for trusted services that does not follow redirects. */
export type HubFetch = (
  url: URL,
  options: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
    readonly maxBytes: number;
  },
) => Promise<HubResponse>;

export interface HubResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface HubAccess {
  readonly fetch: HubFetch;
  /** `https://huggingface.co`, or a compatible server. */
  readonly url: string;
  readonly token?: string | undefined;
  /** A transfer that receives no data for this long is aborted and resumed. */
  readonly stallMs: number;
  /** Pause before a retry, multiplied by the attempt number. */
  readonly retryMs: number;
}

export interface RemoteFile {
  readonly url: URL;
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 or git blob id in hexadecimal; undefined if the hub reports none. */
  readonly checksum: string | undefined;
  /** The commit that the revision refers to, if the hub reports it. */
  readonly commit: string | undefined;
}

const MAX_REDIRECTS = 5;
const MAX_TRIES = 5;
const HEAD_MS = 30_000;
/** Effectively no limit; a stalled transfer is detected by `stallMs`. */
const TRANSFER_MS = 24 * 3_600_000;
const SHA256 = /^[0-9a-f]{64}$/;
const GIT_BLOB = /^[0-9a-f]{40}$/;
const REDIRECTS = [301, 302, 303, 307, 308];

export const hubFailure = (message: string, cause?: unknown): Problem =>
  problem('DownstreamServiceFailureError', { message }, cause);

const damaged = () => hubFailure('The file from the hub does not match its checksum and was discarded');

/** Returns undefined if the file does not exist. */
export async function fetchFileInfo(
  hub: HubAccess,
  { repository, revision, name }: { repository: string; revision: string; name: string },
  signal: AbortSignal,
): Promise<RemoteFile | undefined> {
  const base = `${hub.url.replace(/\/+$/, '')}/`;
  const url = new URL(`${repository}/resolve/${encodeURIComponent(revision)}/${name}`, base);
  let at = url;
  let headers: Readonly<Record<string, string>> = {};
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await request(hub, at, 'HEAD', {}, signal, HEAD_MS);
    response.discard();
    // The hub's headers take precedence over those of redirect targets.
    headers = { ...response.headers, ...headers };
    if (response.status === 404) return undefined;
    const next = redirect(response, at);
    if (next && headers['x-linked-size'] === undefined) {
      at = next;
      continue;
    }
    if (!next && response.status !== 200) throw refused(response.status);
    return { url, name, ...described(headers) };
  }
  throw hubFailure('The hub redirects too often');
}

function described(headers: Readonly<Record<string, string>>): Omit<RemoteFile, 'url' | 'name'> {
  const bytes = Number(headers['x-linked-size'] ?? headers['content-length']);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw hubFailure('The hub does not report the size of a file');
  const etag = (headers['x-linked-etag'] ?? headers.etag ?? '').replace(/^W\//, '').replaceAll('"', '').toLowerCase();
  const checksum = SHA256.test(etag) || GIT_BLOB.test(etag) ? etag : undefined;
  return { bytes, checksum, commit: headers['x-repo-commit'] };
}

function refused(status: number): Problem {
  if (status === 401 || status === 403) return hubFailure('The hub requires a token with access to this model');
  if (status === 429) return hubFailure('The hub reports too many requests; try again later');
  return hubFailure(`The hub answered with status ${status}`);
}

function redirect({ status, headers }: HubResponse, from: URL): URL | undefined {
  if (!REDIRECTS.includes(status) || !headers.location || !isUrl(headers.location, from.href)) return undefined;
  const to = new URL(headers.location, from.href);
  if (to.protocol !== from.protocol && to.protocol !== 'https:')
    throw hubFailure('The hub redirects to a URL that is not encrypted');
  return to;
}

async function request(
  { fetch, url, token }: HubAccess,
  to: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<HubResponse> {
  // The token is sent only to the hub, not to redirect targets.
  const isHub = to.origin === new URL(url).origin;
  const own: Record<string, string> = token && isHub ? { authorization: `Bearer ${token}` } : {};
  return fetch(to, {
    method,
    headers: { 'accept-encoding': 'identity', 'user-agent': 'lectern', ...own, ...headers },
    signal,
    timeoutMs,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
}

/**
 * Downloads the file to `target`: writes a temporary file, syncs, verifies and renames it. `expected` is a SHA-256 from
 * the row. `onBytes` is called with the bytes so far, including those of earlier attempts. Returns the file's SHA-256.
 */
export async function fetchFile(
  hub: HubAccess,
  file: RemoteFile,
  {
    target,
    expected,
    signal,
    onBytes,
  }: { target: string; expected?: string | undefined; signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<string> {
  if (expected && file.checksum && SHA256.test(file.checksum) && file.checksum !== expected)
    throw hubFailure('The hub has a different version of this file than expected');
  await mkdir(path.dirname(target), { recursive: true });
  const part = `${target}.${file.checksum?.slice(0, 16) ?? 'unknown'}.part`;
  await removeOtherParts(target, part);
  for (let attempt = 1; ; attempt++) {
    const before = await sizeOf(part);
    try {
      await transfer(hub, file, { part, signal, onBytes });
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Refusal) throw error.problem;
      if (isDiskFull(error)) {
        // The partial file would use disk space that other files need.
        await rm(part, { force: true });
        throw diskFull(error);
      }
      if ((await sizeOf(part)) > before) attempt = 1;
      if (attempt >= MAX_TRIES) throw hubFailure('The download from the hub failed repeatedly', error);
      await pause(hub.retryMs * attempt, signal);
    }
  }
  return finish(file, { part, target, expected });
}

/** Removes partial downloads of other versions of the file. */
async function removeOtherParts(target: string, part: string): Promise<void> {
  const folder = path.dirname(target);
  for (const name of await readdir(folder))
    if (name.startsWith(`${path.basename(target)}.`) && name.endsWith('.part') && name !== path.basename(part))
      await rm(path.join(folder, name), { force: true });
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => ({ size: 0 }))).size;

/** A failure that a retry cannot fix. */
class Refusal extends Error {
  readonly problem: Problem;
  constructor(given: Problem) {
    super(given.message);
    this.problem = given;
  }
}

async function transfer(
  hub: HubAccess,
  { url, bytes }: RemoteFile,
  { part, signal, onBytes }: { part: string; signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<void> {
  let have = await sizeOf(part);
  if (have > bytes) {
    await rm(part, { force: true });
    have = 0;
  }
  onBytes(have);
  if (have === bytes && bytes > 0) return;

  const stalled = new AbortController();
  const both = AbortSignal.any([signal, stalled.signal]);
  let timer = setTimeout(() => {}, 0);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stalled.abort(new Error('no byte came')), hub.stallMs);
  };
  alive();
  try {
    const response = await requestBytes(hub, url, have, both);
    const from = startOf(response, have);
    const file = await open(part, from > 0 ? 'r+' : 'w');
    let written = from;
    try {
      for await (const chunk of response.body) {
        alive();
        if (written + chunk.length > bytes) throw new Refusal(damaged());
        for (let at = 0; at < chunk.length; ) {
          // The last write before the disk is full may be partial.
          const { bytesWritten } = await file.write(chunk, at, chunk.length - at, written + at);
          at += bytesWritten;
        }
        written += chunk.length;
        onBytes(written);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (written < bytes) throw new Error('the answer ended early');
  } finally {
    clearTimeout(timer);
  }
}

async function requestBytes(hub: HubAccess, url: URL, have: number, signal: AbortSignal): Promise<HubResponse> {
  const range: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
  let at = url;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await request(hub, at, 'GET', range, signal, TRANSFER_MS);
    const next = redirect(response, at);
    if (!next && (response.status === 200 || response.status === 206)) return response;
    response.discard();
    if (!next && (response.status >= 500 || response.status === 429)) throw new Error(`status ${response.status}`);
    if (!next) throw new Refusal(refused(response.status));
    at = next;
  }
  throw new Refusal(hubFailure('The hub redirects in a loop'));
}

/** Offset at which the response's bytes start. Servers without range support start at 0. */
function startOf({ status, headers }: HubResponse, have: number): number {
  if (status === 200) return 0;
  const from = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1];
  if (Number(from) !== have) throw new Refusal(hubFailure('The hub sent a different range of the file than requested'));
  return have;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
  signal.throwIfAborted();
}

async function finish(
  { bytes, checksum }: RemoteFile,
  { part, target, expected }: { part: string; target: string; expected: string | undefined },
): Promise<string> {
  const sha256 = createHash('sha256');
  // A git blob id is the SHA-1 of a header and the bytes.
  const blob = checksum && GIT_BLOB.test(checksum) ? createHash('sha1').update(`blob ${bytes}\0`) : undefined;
  await digest(part, blob ? [sha256, blob] : [sha256]);
  const found = sha256.digest('hex');
  const isTrue = blob ? blob.digest('hex') === checksum : checksum === undefined || found === checksum;
  if (!isTrue || (expected !== undefined && found !== expected)) {
    await rm(part, { force: true });
    throw damaged();
  }
  await rename(part, target);
  await syncFolder(path.dirname(target));
  return found;
}

async function digest(file: string, hashes: readonly Hash[]): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }))
    for (const hash of hashes) hash.update(chunk as Buffer);
}

/** Makes the rename durable; not supported on every system. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
