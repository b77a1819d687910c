/** Routes that belong to no product: the index page, health, and the OpenAPI document of all dialects. */
import type { Dialect } from '../dialect.ts';
import { DIALECTS } from '../dialects.ts';
import { plainError, sendJson } from '../errors.ts';
import { DESCRIPTION_ROUTES } from './description.ts';
import { sendIndexPage } from './index-page.ts';

/** What Ollama's and TEI's clients check for at `/`. */
const RUNNING = 'Lectern is running';

export const lectern: Dialect = {
  name: 'lectern',
  title: 'Lectern',
  keyPlaces: ['bearer'],
  writeError: (failure, _, reply) => sendJson(reply.code(failure.code), plainError(failure)),
  routes: [
    {
      method: ['GET', 'HEAD'],
      url: '/',
      access: 'public',
      summary: 'Says that the server runs, or shows the dialects to a browser.',
      handler: ({ request, reply, origin }) =>
        request.headers.accept?.includes('text/html')
          ? sendIndexPage(reply, DIALECTS, origin)
          : reply.type('text/plain; charset=utf-8').send(RUNNING),
    },
    {
      method: ['GET', 'HEAD'],
      url: '/health',
      access: 'public',
      summary: 'Returns the state and the version.',
      handler: ({ reply, native }) => sendJson(reply, { status: 'ok', version: native.parts.version }),
    },
    ...DESCRIPTION_ROUTES,
  ],
};
