/** Serves the pictures of documents at temporary URLs, if they may be stored and the caller can reach this server. */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Options, PictureUrls, Rendition } from '#reader/index.ts';
import { PICTURE_TYPES, type Pictures } from '#storage/pictures.ts';
import { originOf, PICTURES_PATH } from './picture-urls.ts';

interface Deps {
  readonly pictures: Pictures;
  readonly publicUrl?: string | undefined;
}

/** Makes the names of pictures unguessable. Names from before a restart remain valid. */
const KEY = randomBytes(32).toString('base64url');

/** `undefined` if pictures keep their `blob:` names. */
export function urlsFor(
  request: FastifyRequest,
  { zeroDataRetention, doNotTrack }: Options,
  deps: Deps,
): PictureUrls | undefined {
  if (zeroDataRetention || doNotTrack) return undefined;
  // Requests of this process come through a socket that nobody else can open.
  if (deps.publicUrl === undefined && request.raw.socket.remoteAddress === undefined) return undefined;
  return { base: `${originOf(request, deps)}${PICTURES_PATH}`, key: KEY };
}

/** Stores the pictures to which an answer refers. */
export async function store(
  { pictures = [], page, finalUrl = page.url, staleAt }: Rendition,
  deps: Deps,
): Promise<void> {
  const shown = { urls: [page.url, finalUrl], staleAt };
  for (const { name, dataUrl } of pictures) {
    const comma = dataUrl.indexOf(',');
    const mediaType = PICTURE_TYPES.find((type) => dataUrl.startsWith(`data:${type};`));
    if (!mediaType) continue;
    await deps.pictures.putNamed(name, { bytes: Buffer.from(dataUrl.slice(comma + 1), 'base64'), mediaType }, shown);
  }
}
