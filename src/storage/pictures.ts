/**
 * Images of pages that callers fetch through a temporary URL. Each is a file with a name of 192 random bits. It is
 * removed after four hours, or earlier, oldest first, if the folder exceeds its size limit. An image is no longer
 * served once the guard refuses its page.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isUrl } from '#is-url.ts';
import { writeAtomically } from './files.ts';

const LIFETIME_MS = 4 * 60 * 60 * 1000;
const SWEEP_MS = 10 * 60 * 1000;
const MAX_TOTAL_BYTES = 1_000_000_000;

export interface Pictures {
  /** Stores a PNG for four hours and returns its name. */
  put(png: Uint8Array, shown: PictureSource): Promise<string>;
  /** Stores an image for four hours under a name of 32 characters that nobody can guess. */
  putNamed(name: string, image: NamedPicture, shown: PictureSource): Promise<void>;
  /** Returns `undefined` if the image does not exist any more, or if the guard now refuses its page. */
  get(name: string): Promise<StoredPicture | undefined>;
  close(): void;
}

/** The page shown in a picture. */
export interface PictureSource {
  readonly urls: readonly string[];
  /** When the page was cached, in ms since 1970. Set only if the cached copy is older than the caller requested. */
  readonly staleAt?: number | undefined;
}

export interface NamedPicture {
  readonly bytes: Uint8Array;
  readonly mediaType: PictureType;
}

export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

export interface StoredPicture {
  readonly bytes: Uint8Array;
  readonly mediaType: PictureType;
  readonly staleAt?: number | undefined;
}

export interface PicturesOptions {
  /** Called for each origin of a page before its image is served. */
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
    const files = await listFiles(dir);
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
      await writeAtomically(path.join(dir, `${name}${EXTENSION}`), encode(png, 'image/png', shown));
      return name;
    },
    async putNamed(name, { bytes, mediaType }, shown) {
      if (!NAME.test(name)) throw new Error('the name of a picture must have 32 characters');
      await writeAtomically(path.join(dir, `${name}${EXTENSION}`), encode(bytes, mediaType, shown));
    },
    async get(name) {
      if (!NAME.test(name)) return undefined;
      const file = path.join(dir, `${name}${EXTENSION}`);
      try {
        if (clock() - (await stat(file)).mtimeMs > LIFETIME_MS) return undefined;
        const { origins, ...picture } = decode(await readFile(file));
        const allowed = await Promise.all(origins.map((origin) => mayServeCached(origin)));
        return allowed.every(Boolean) ? picture : undefined;
      } catch {
        return undefined;
      }
    },
    close: () => clearInterval(timer),
  };
}

const NAME = /^[\w-]{32}$/;
const EXTENSION = '.picture';
const LINE_END = 0x0a;

interface Header {
  readonly origins: readonly string[];
  /** Default: PNG. */
  readonly mediaType?: PictureType | undefined;
  readonly staleAt?: number | undefined;
}

/** One line of JSON about the page, followed by the image. Only origins are stored, because URLs may contain secrets. */
function encode(bytes: Uint8Array, mediaType: PictureType, { urls, staleAt }: PictureSource): Uint8Array {
  const web = urls.filter((url) => /^https?:/i.test(url) && isUrl(url));
  const origins = [...new Set(web.map((url) => new URL(url).origin))];
  return Buffer.concat([Buffer.from(`${JSON.stringify({ origins, mediaType, staleAt } satisfies Header)}\n`), bytes]);
}

function decode(bytes: Uint8Array): StoredPicture & Pick<Header, 'origins'> {
  const end = bytes.indexOf(LINE_END);
  const head = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString()) as Header;
  return { mediaType: 'image/png', ...head, bytes: bytes.subarray(end + 1) };
}

async function listFiles(dir: string): Promise<{ file: string; bytes: number; madeAt: number }[]> {
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
