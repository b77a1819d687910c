/** `/openapi.json` and `/docs`, for all dialects and for each of them. */
import { problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { DIALECTS } from '../dialects.ts';
import { sendJson } from '../errors.ts';
import { sendDocsPage } from './docs-page.ts';
import { compatDocument, dialectDocument } from './openapi.ts';

const described = (dialects: readonly Dialect[]) => dialects.filter(({ name }) => name !== 'lectern');

function dialectOf({ params }: CompatCall): Dialect {
  const found = DIALECTS.find(({ name }) => name === params.dialect);
  if (found) return found;
  throw problem('RouteNotFoundError', { message: `There is no dialect ${String(params.dialect).slice(0, 50)}` });
}

const get = (url: string, summary: string, handler: CompatRoute['handler']): CompatRoute => ({
  ...{ method: ['GET', 'HEAD'], url, access: 'public', summary, handler },
});

export const DESCRIPTION_ROUTES: readonly CompatRoute[] = [
  get('/openapi.json', 'Describes all dialects.', ({ reply, native }) =>
    sendJson(reply, compatDocument(described(DIALECTS), native.parts.version)),
  ),
  get('/docs', 'Describes all dialects on a page.', ({ reply }) => sendDocsPage(reply, described(DIALECTS), '')),
  get('/for/:dialect/openapi.json', 'Describes one dialect.', (call) =>
    sendJson(call.reply, dialectDocument(dialectOf(call), call.native.parts.version)),
  ),
  get('/for/:dialect/docs', 'Describes one dialect on a page.', (call) => {
    const dialect = dialectOf(call);
    return sendDocsPage(call.reply, [dialect], `/for/${dialect.name}`);
  }),
];
