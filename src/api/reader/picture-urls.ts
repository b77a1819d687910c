/** The URLs of temporary pictures. */
import type { FastifyRequest } from 'fastify';

/** The path of temporary pictures. No host name starts with a dot, so this path cannot be a target. */
export const PICTURES_PATH = '/.pictures/';

/** The origin of this host as the caller sees it. */
export const originOf = (request: FastifyRequest, { publicUrl }: { readonly publicUrl?: string | undefined }): string =>
  publicUrl?.replace(/\/$/, '') ?? `${request.protocol}://${request.headers.host}`;
