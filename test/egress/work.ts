/** Every kind of work that the product does, once each. A step throws if its work was not completed. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServerProcess } from '../support/serve-program.ts';
import type { Given } from './files.ts';
import { HOSTS, type Sites } from './sites.ts';

export interface Step {
  readonly name: string;
  /** The beginning of the result. */
  readonly done?: string;
  readonly failed?: string;
}

export interface WorkTools {
  readonly server: ServerProcess;
  readonly sites: Sites;
  readonly given: Given;
  readonly command: (
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly out: string; readonly error: string; readonly code: number | null }>;
}

export type Work = ReturnType<typeof openWork>;

export function openWork({ server, sites, given, command }: WorkTools) {
  const [, key] = /API key, shown only this once: (lectern_\S+)/.exec(server.lines.join('\n'))!;
  async function ask(label: string, place: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await fetch(`${server.urlOf(label)}${place}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        'content-type': 'application/json',
        ...headers,
      },
    });
    return answer.text();
  }
  return { ask, sites, given, command };
}

/** Returns the beginning of `text`. Throws if `text` does not contain `part`. */
function expectPart(part: string | RegExp, text: string): string {
  if (typeof part === 'string' ? !text.includes(part) : !part.test(text)) throw new Error(text.slice(0, 2_000));
  return text.slice(0, 200);
}

export function workOf({ ask, sites, given, command }: Work): (readonly [string, () => Promise<string>])[] {
  const pages = sites.at(HOSTS.pages);
  const read = (part: string, place: string, headers: Record<string, string> = {}) =>
    ask('reader', '/', { url: `${pages}${place}` }, headers).then((text) => expectPart(part, text));
  const picture = (name: string) => {
    const url = `data:image/png;base64,${readFileSync(path.join(given.folder, name), 'base64')}`;
    return [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  };
  const untilEnded = async (label: string, place: string): Promise<string> => {
    for (;;) {
      const text = await ask(label, place);
      if (!/"status":\s*"(?:pending|processing|validating)"/.test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const texts = ['the river is safe', 'a large city'];
  const ocr = (engine: string, name: string, environment: Record<string, string>, part: RegExp) =>
    [
      `text recognition by ${engine}`,
      async () => {
        const { out, error } = await command(['ocr', path.join(given.folder, name)], {
          LECTERN_SEARCH_PROVIDERS: '[]',
          ...environment,
        });
        return expectPart(part, `${out}${error}`);
      },
    ] as const;

  return [
    ['a page, fetched', () => read('Clay is dug in spring', '/', { 'x-engine': 'direct' })],
    ['a page, rendered', () => read('Written by a script', '/scripted', { 'x-engine': 'browser' })],
    [
      'a page over TLS',
      async () => {
        const headers = { 'x-engine': 'browser', 'x-skip-cert-verification': 'true' };
        return expectPart('Clay is dug', await ask('reader', '/', { url: `${sites.at(HOSTS.secure)}/` }, headers));
      },
    ],
    ['a screenshot', () => read('screenshotUrl', '/scripted', { 'x-respond-with': 'screenshot' })],
    ['a PDF', () => read('This page speaks of clay', '/page.pdf')],
    ['a Word file', () => read('Celadon is a green glaze', '/glazes.docx')],
    ...(given.hasDoc ? [['an old Word file', () => read('Celadon is a green glaze', '/glazes.doc')] as const] : []),
    ['a picture', () => read('content', '/scan.png')],
    [
      'text recognition by the server',
      async () =>
        expectPart(
          /kiln/,
          await ask('model host', '/v1/chat/completions', { model: 'lectern-ocr', messages: picture('scan.png') }),
        ),
    ],
    ocr('the built-in Tesseract', 'scan.png', { LECTERN_TESSERACT: 'tesseract.js' }, /kiln/),
    ocr('PP-OCR', 'letters.png', { LECTERN_OCR_MODEL_DIR: given.ppOcrDir }, /ABCACAB/),
    ...['lectern-static-v2', 'test-encoder'].map(
      (model) =>
        [
          `vectors of ${model}`,
          async () => expectPart('"embedding"', await ask('model host', '/v1/embeddings', { model, input: texts })),
        ] as const,
    ),
    ...['lectern-static-rerank-v2', 'test-reranker'].map(
      (model) =>
        [
          `an order by ${model}`,
          async () =>
            expectPart(
              'relevance_score',
              await ask('model host', '/v1/rerank', { model, query: 'the river', documents: texts }),
            ),
        ] as const,
    ),
    [
      'a batch job',
      async () => {
        const input = [{ custom_id: 'a', body: { input: 'the river' } }];
        const webhook = `${sites.at(HOSTS.hooks)}/ended`;
        const started = await ask('model host', '/v1/batch/embeddings', {
          model: 'lectern-static-v2',
          input,
          webhook_url: webhook,
        });
        const id = (JSON.parse(started) as { batch_id?: string }).batch_id ?? expectPart(/^$/, started);
        const ended = expectPart('completed', await untilEnded('model host', `/v1/batch/${id}`));
        await sites.heard(HOSTS.hooks);
        return ended;
      },
    ],
    [
      'a crawl',
      async () => {
        const started = await ask('reader', '/crawl', { url: `${pages}/`, limit: 5 });
        const id = (JSON.parse(started) as { crawl_id?: string }).crawl_id ?? expectPart(/^$/, started);
        return expectPart('"done":2', await untilEnded('reader', `/crawl/${id}`));
      },
    ],
    ['a search', async () => expectPart('Clay is dug in spring', await ask('search host', '/search?q=clay&num=1'))],
    [
      'a flow',
      async () => {
        await ask('flow gateway', '/index', { data: [{ id: 'note', text: 'Tea is at four.' }] });
        return expectPart('Tea is at four', await ask('flow gateway', '/search', { data: [{ text: 'when is tea?' }] }));
      },
    ],
    [
      'an examination',
      async () => {
        const { out } = await command(['doctor', '--json']);
        const { findings } = JSON.parse(out) as { findings: { group: string; state: string }[] };
        const wrong = findings.filter(
          ({ group, state }) => state === 'broken' || (group === 'Privacy' && state !== 'ok'),
        );
        return expectPart(/^\[\]$/, JSON.stringify(wrong));
      },
    ],
    ['traces', () => sites.heard(HOSTS.traces).then(() => 'sent')],
  ];
}
