/**
 * Pictures that callers fetch by a temporary address: a file each, named by 192 random bits, gone after four hours or
 * when the folder grows over its bound, oldest first.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from './files.ts';

const LIFETIME_MS = 4 * 60 * 60 * 1000;
const SWEEP_MS = 10 * 60 * 1000;
const MAX_TOTAL_BYTES = 1_000_000_000;

export interface Pictures {
  /** The name under which a PNG can be had for the next four hours. */
  put(png: Uint8Array): Promise<string>;
  /** The PNG, or undefined when there is none of that name any more. */
  get(name: string): Promise<Uint8Array | undefined>;
  close(): void;
}

export async function openPictures(dataDir: string, clock: () => number = Date.now): Promise<Pictures> {
  const dir = path.join(dataDir, 'pictures');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const sweep = async () => {
    const files = await listing(dir);
    let total = 0;
    for (const { file, bytes, madeAt } of files.sort((a, b) => b.madeAt - a.madeAt)) {
      total += bytes;
      if (clock() - madeAt > LIFETIME_MS || total > MAX_TOTAL_BYTES) await rm(file, { force: true });
    }
  };
  await sweep();
  const timer = setInterval(() => void sweep().catch(() => {}), SWEEP_MS);
  timer.unref();
  return {
    async put(png) {
      const name = randomBytes(24).toString('base64url');
      await writeWhole(path.join(dir, `${name}.png`), png);
      return name;
    },
    async get(name) {
      if (!/^[\w-]{32}$/.test(name)) return undefined;
      const file = path.join(dir, `${name}.png`);
      try {
        if (clock() - (await stat(file)).mtimeMs > LIFETIME_MS) return undefined;
        return await readFile(file);
      } catch {
        return undefined;
      }
    },
    close: () => clearInterval(timer),
  };
}

async function listing(dir: string): Promise<{ file: string; bytes: number; madeAt: number }[]> {
  const names = await readdir(dir);
  const entries = await Promise.all(
    names.map(async (name) => {
      const file = path.join(dir, name);
      const facts = await stat(file).catch(() => undefined);
      return facts ? [{ file, bytes: facts.size, madeAt: facts.mtimeMs }] : [];
    }),
  );
  return entries.flat();
}
