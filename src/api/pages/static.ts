/** Small files that every host serves: robots.txt and the favicon. */
import { sendTagged } from '#http/etag.ts';
import type { Face } from '#http/server.ts';

export const STATIC_PATHS = ['/robots.txt', '/favicon.ico'] as const;

/** The outline of a lectern, as SVG. */
const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 4l12-2v2L2 6zM7 6h2v7h3v1H4v-1h3z" fill="#345"/></svg>';

export function staticRoutes(face: Face): void {
  face.get('/robots.txt', async (_, reply) =>
    reply.type('text/plain; charset=utf-8').send('User-agent: *\nDisallow: /\n'),
  );
  face.get('/favicon.ico', async (request, reply) =>
    sendTagged(request, reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400'), FAVICON),
  );
}
