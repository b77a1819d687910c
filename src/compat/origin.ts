/** The origin by which a caller reached this server. Links in answers stay on it. */
import type { FastifyRequest } from 'fastify';

/** A configured public URL is used only if the request does not name a host. */
export const originOf = (request: FastifyRequest, publicUrl: string | undefined): string =>
  request.host ? `${request.protocol}://${request.host}` : (publicUrl ?? '').replace(/\/$/, '');
