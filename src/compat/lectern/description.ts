/** `/openapi.json` and `/docs`, for all dialects and for each of them. */
import { problem } from '#errors.ts';
import { sendTagged } from '#http/etag.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { DIALECTS } from '../dialects.ts';
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

const sendDocument = ({ request, reply }: CompatCall, document: object) =>
  sendTagged(
    request,
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache'),
    JSON.stringify(document),
  );

export const DESCRIPTION_ROUTES: readonly CompatRoute[] = [
  get('/openapi.json', 'Describes all dialects.', (call) =>
    sendDocument(call, compatDocument(described(DIALECTS), call.native.parts.version)),
  ),
  get('/docs', 'Describes all dialects on a page.', (call) => sendDocsPage(call, described(DIALECTS), '')),
  get('/for/:dialect/openapi.json', 'Describes one dialect.', (call) =>
    sendDocument(call, dialectDocument(dialectOf(call), call.native.parts.version)),
  ),
  get('/for/:dialect/docs', 'Describes one dialect on a page.', (call) => {
    const dialect = dialectOf(call);
    return sendDocsPage(call, [dialect], `/for/${dialect.name}`);
  }),
];
