/**
 * A workspace in a bucket: a local folder that is restored before the executor is created, and saved when the executor
 * asks and when it closes. Files are stored in parts under the hash of their content, so that a save sends only what
 * changed. A manifest lists them; it is replaced last, so a save that is interrupted leaves the previous state.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import type { S3Objects } from '#storage/blobs/s3-objects.ts';
import { openProcessFolder } from '#storage/process-folder.ts';

export interface BucketWorkspace {
  /** The local folder. */
  readonly folder: string;
  /**
   * Stores the present content of the folder. Throws an Error if the bucket does not answer, if another executor has
   * opened the workspace since, or if the folder holds anything but files and folders.
   */
  save(): Promise<void>;
  /**
   * Saves, and removes the local folder. If it cannot be saved, its files are moved to a folder that remains, and the
   * error names it.
   */
  close(): Promise<void>;
  /** Removes the local folder without saving. */
  discard(): void;
}

const PART_BYTES = 4 * 1024 * 1024;
const MANIFEST = 'manifest.json';
/** Parts that are sent or read at the same time. */
const AT_ONCE = 4;
const atOnce = () => ({ atOnce: AT_ONCE, signal: new AbortController().signal });

const HASH = z.string().regex(/^[\da-f]{64}$/);
const MANIFEST_SCHEMA = z.object({
  version: z.literal(1),
  /** The executor that opened the workspace last. Only it may save. */
  owner: z.string(),
  /** Folders, parents first, relative to the workspace, with slashes. */
  folders: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), parts: z.array(HASH) })),
  /** Parts that this state no longer needs, which may still be in the bucket. */
  removed: z.array(HASH),
});
type Manifest = z.infer<typeof MANIFEST_SCHEMA>;

/**
 * The bucket of a workspace. Keys come from the SDK's usual places (`AWS_ACCESS_KEY_ID`, the machine's role, …), the
 * endpoint of another store than AWS from its variables `AWS_ENDPOINT_URL_S3` and `AWS_ENDPOINT_URL`.
 */
async function openBucket(url: string, env: Readonly<Record<string, string | undefined>>): Promise<S3Objects> {
  const { openS3Objects } = await import('#storage/blobs/s3-objects.ts');
  const endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const [accessKeyId, secretAccessKey] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  const isTemporary = env.AWS_SESSION_TOKEN !== undefined;
  return openS3Objects({
    url,
    endpoint,
    region: env.AWS_REGION,
    // The executor's own variables are not those of the process if it runs in the process of the flow.
    ...(accessKeyId && secretAccessKey && !isTemporary && { credentials: { accessKeyId, secretAccessKey } }),
    pathStyle: endpoint !== undefined,
  });
}

/** The objects below a place in the bucket. Keys of objects may have characters that the URL of a bucket may not. */
function objectsBelow(objects: S3Objects, place: readonly string[]): S3Objects {
  const keyOf = (name: string) => [...place.map(encodeURIComponent), name].join('/');
  return {
    put: (name, bytes) => objects.put(keyOf(name), bytes),
    get: (name) => objects.get(keyOf(name)),
    remove: (name) => objects.remove(keyOf(name)),
    close: () => objects.close(),
  };
}

/**
 * Restores the workspace of one executor, and makes this executor its owner. `place` follows the prefix of the bucket's
 * URL: the name of the executor and its shard. Throws an Error if the bucket does not answer or a file is damaged or missing.
 */
export async function openBucketWorkspace(
  bucketUrl: string,
  place: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<BucketWorkspace> {
  const url = [bucketUrl.replace(/\/+$/, ''), ...place].join('/');
  const objects = objectsBelow(await openBucket(bucketUrl, env), place);
  // If this process is killed, a later one removes the folder.
  const temporary = await openProcessFolder();
  const folder = path.join(temporary.path, 'workspace');
  const owner = randomUUID();
  let stored: Manifest;
  const discard = () => {
    objects.close();
    temporary.remove();
  };
  try {
    await mkdir(folder);
    const found = await within(url, 'read', () => readManifest(objects));
    await within(url, 'restored', () => restore(objects, found, folder));
    stored = { ...found, owner };
    await within(url, 'written', () => writeManifest(objects, stored));
  } catch (error) {
    discard();
    throw error;
  }

  async function saveOnce(): Promise<void> {
    const known = new Set(stored.files.flatMap(({ parts }) => parts));
    if ((await readManifest(objects)).owner !== owner) throw new Error('another executor has opened it since');
    const { folders, files } = await list(folder);
    const next: Manifest['files'] = [];
    for (const file of files) next.push({ path: file, parts: await partsOf(path.join(folder, file)) });
    const used = new Set(next.flatMap(({ parts }) => parts));
    const added = new Set([...used].filter((hash) => !known.has(hash)));
    if (added.size > 0) {
      // Announced before they are sent, so that a later save removes them if this one is interrupted.
      stored = { ...stored, removed: [...new Set([...stored.removed, ...added])] };
      await writeManifest(objects, stored);
      for (const file of next) await sendParts(objects, path.join(folder, file.path), file, added);
    }
    const removed = [...new Set([...stored.removed, ...known])].filter((hash) => !used.has(hash));
    stored = { version: 1, owner, folders, files: next, removed };
    await writeManifest(objects, stored);
    await mapConcurrently(removed, atOnce(), (hash) => objects.remove(hash));
    stored = { ...stored, removed: [] };
  }

  let saving: Promise<void> = Promise.resolve();
  /** Saves one after the other. */
  const save = (): Promise<void> => {
    const run = saving.catch(() => {}).then(() => within(url, 'saved', saveOnce));
    saving = run;
    return run;
  };

  return {
    folder,
    save,
    async close() {
      try {
        await save();
      } catch (error) {
        const kept = path.join(path.dirname(temporary.path), `lectern-unsaved-${owner}`);
        await rename(folder, kept);
        throw new Error(`${(error as Error).message}; its files are in ${kept}`, { cause: error });
      } finally {
        discard();
      }
    },
    discard,
  };
}

async function within<T>(url: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    throw new Error(`the workspace ${url} could not be ${what}: ${message || name}`, { cause: error });
  }
}

const EMPTY: Manifest = { version: 1, owner: '', folders: [], files: [], removed: [] };

async function readManifest(objects: S3Objects): Promise<Manifest> {
  const bytes = await objects.get(MANIFEST);
  return bytes === undefined ? EMPTY : MANIFEST_SCHEMA.parse(JSON.parse(Buffer.from(bytes).toString()));
}

const writeManifest = (objects: S3Objects, manifest: Manifest): Promise<void> =>
  objects.put(MANIFEST, Buffer.from(JSON.stringify(manifest)));

/** The path of a file of the manifest. Throws for one outside of the folder. */
function placeOf(folder: string, file: string): string {
  const place = path.resolve(folder, file);
  if (!place.startsWith(folder + path.sep)) throw new Error(`it has a file outside of its folder: ${file}`);
  return place;
}

async function restore(objects: S3Objects, manifest: Manifest, folder: string): Promise<void> {
  for (const one of manifest.folders) await mkdir(placeOf(folder, one), { recursive: true });
  for (const file of manifest.files) {
    const handle = await open(placeOf(folder, file.path), 'wx');
    try {
      await mapConcurrently([...file.parts.entries()], atOnce(), async ([at, hash]) => {
        const bytes = await objects.get(hash);
        if (bytes === undefined || hashOf(bytes) !== hash) throw new Error(`${file.path} is damaged in the bucket`);
        await handle.write(bytes, 0, bytes.length, at * PART_BYTES);
      });
    } finally {
      await handle.close();
    }
  }
}

/** Folders and files, relative to the folder, with slashes. */
async function list(folder: string): Promise<{ folders: string[]; files: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const [folders, files]: [string[], string[]] = [[], []];
  for (const entry of entries) {
    const place = path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/');
    if (entry.isDirectory()) folders.push(place);
    else if (entry.isFile()) files.push(place);
    else throw new Error(`${place} is neither a file nor a folder`);
  }
  return { folders: folders.sort(), files: files.sort() };
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The hashes of the parts of a file. */
const partsOf = (file: string): Promise<string[]> =>
  withFile(file, async (handle) => {
    const count = Math.ceil((await handle.stat()).size / PART_BYTES);
    const hashes: string[] = [];
    for (let at = 0; at < count; at++) hashes.push(hashOf(await readPart(handle, at * PART_BYTES)));
    return hashes;
  });

/** Sends the parts of a file that are in `added`. Throws if the file has changed since its parts were listed. */
async function sendParts(
  objects: S3Objects,
  file: string,
  { path: name, parts }: Manifest['files'][number],
  added: Set<string>,
): Promise<void> {
  const wanted = parts.flatMap((hash, at) => (added.has(hash) ? [{ hash, at }] : []));
  if (wanted.length === 0) return;
  await withFile(file, (handle) =>
    mapConcurrently(wanted, atOnce(), async ({ hash, at }) => {
      const bytes = await readPart(handle, at * PART_BYTES);
      if (hashOf(bytes) !== hash) throw new Error(`${name} was written to while it was saved`);
      await objects.put(hash, bytes);
      added.delete(hash);
    }),
  );
}

async function withFile<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

async function readPart(handle: FileHandle, from: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(PART_BYTES);
  let length = 0;
  while (length < PART_BYTES) {
    const { bytesRead } = await handle.read(bytes, length, PART_BYTES - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
