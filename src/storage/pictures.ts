/**
 * Images of pages that callers fetch through a temporary URL. Each is a file with a name of 192 random bits. It is
 * removed after four hours, or earlier, oldest first, if the folder exceeds its size limit. An image is no longer
 * served once the guard refuses its page. Several servers share their pictures through `shared-pictures.ts`.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeAtomically } from './files.ts';
import { decodePicture, encodePicture } from './picture-file.ts';

export const PICTURE_LIFETIME_MS = 4 * 60 * 60 * 1000;
export const PICTURE_SWEEP_MS = 10 * 60 * 1000;
export const PICTURES_MAX_BYTES = 1_000_000_000;

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
  const fileOf = (name: string) => path.join(dir, `${name}${EXTENSION}`);
  const put: Pictures['putNamed'] = async (name, image, shown) => {
    if (!isPictureName(name)) throw new Error('the name of a picture must have 32 characters');
    await writeAtomically(fileOf(name), encodePicture(image, shown));
  };
  const sweep = async () => {
    const files = await listFiles(dir);
    let total = 0;
    for (const { file, bytes, madeAt } of files.sort((a, b) => b.madeAt - a.madeAt)) {
      total += bytes;
      if (clock() - madeAt > PICTURE_LIFETIME_MS || total > PICTURES_MAX_BYTES) await rm(file, { force: true });
    }
  };
  await sweep();
  const timer = setInterval(() => void sweep().catch(() => {}), PICTURE_SWEEP_MS);
  timer.unref();
  return {
    async put(png, shown) {
      const name = newPictureName();
      await put(name, { bytes: png, mediaType: 'image/png' }, shown);
      return name;
    },
    putNamed: put,
    async get(name) {
      if (!isPictureName(name)) return undefined;
      const file = fileOf(name);
      try {
        if (clock() - (await stat(file)).mtimeMs > PICTURE_LIFETIME_MS) return undefined;
        return await decodePicture(await readFile(file), mayServeCached);
      } catch {
        return undefined;
      }
    },
    close: () => clearInterval(timer),
  };
}

const EXTENSION = '.picture';

/** A name of 192 random bits, which nobody can guess. */
export const newPictureName = (): string => randomBytes(24).toString('base64url');
export const isPictureName = (name: string): boolean => /^[\w-]{32}$/.test(name);

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
