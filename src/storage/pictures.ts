/**
 * Pictures that callers fetch by a temporary address: a file each, named by 192 random bits, gone after four hours or
 * when the folder grows over its bound, oldest first. A picture of a page that may not be read any more is not given.
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
  put(png: Uint8Array, shown: ShownPage): Promise<string>;
  /** Undefined when there is none of that name any more, or its page is refused now. */
  get(name: string): Promise<KeptPicture | undefined>;
  close(): void;
}

/** The page that a picture shows. */
export interface ShownPage {
  readonly urls: readonly string[];
  /** When the copy was kept that stands for the page, where that is older than what was asked for, in ms since 1970. */
  readonly staleAt?: number | undefined;
}

export interface KeptPicture {
  readonly png: Uint8Array;
  readonly staleAt?: number | undefined;
}

export interface PicturesOptions {
  /** Asked of the origins of a page before its picture is given. */
  readonly mayServeCached: (url: string) => Promise<boolean>;
  readonly clock?: () => number;
}

export async function openPictures(
  dataDir: string,
  { mayServeCached, clock = Date.now }: PicturesOptions,
): Promise<Pictures> {
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
    async put(png, shown) {
      const name = randomBytes(24).toString('base64url');
      await writeWhole(path.join(dir, `${name}${ENDING}`), packed(png, shown));
      return name;
    },
    async get(name) {
      if (!/^[\w-]{32}$/.test(name)) return undefined;
      const file = path.join(dir, `${name}${ENDING}`);
      try {
        if (clock() - (await stat(file)).mtimeMs > LIFETIME_MS) return undefined;
        const { origins, ...picture } = unpacked(await readFile(file));
        const allowed = await Promise.all(origins.map((origin) => mayServeCached(origin)));
        return allowed.every(Boolean) ? picture : undefined;
      } catch {
        return undefined;
      }
    },
    close: () => clearInterval(timer),
  };
}

const ENDING = '.picture';
const LINE_END = 0x0a;

interface Head {
  readonly origins: readonly string[];
  readonly staleAt?: number | undefined;
}

/** What is known of the page in a line of JSON, and the picture: URLs may be secrets, and are not written down. */
function packed(png: Uint8Array, { urls, staleAt }: ShownPage): Uint8Array {
  const web = urls.filter((url) => /^https?:/i.test(url) && URL.canParse(url));
  const origins = [...new Set(web.map((url) => new URL(url).origin))];
  return Buffer.concat([Buffer.from(`${JSON.stringify({ origins, staleAt } satisfies Head)}\n`), png]);
}

function unpacked(bytes: Uint8Array): KeptPicture & Head {
  const end = bytes.indexOf(LINE_END);
  const head = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString()) as Head;
  return { ...head, png: bytes.subarray(end + 1) };
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
