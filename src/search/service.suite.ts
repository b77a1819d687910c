/** Search providers for tests: a loopback server that responds in the format of each provider, from a list of pages. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListedPage {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface ProviderRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface Service {
  readonly url: string;
  /** Every request so far. */
  readonly requests: ProviderRequest[];
  close(): Promise<void>;
}

/**
 * Starts a service. If `answer` returns an object, it is sent as JSON; otherwise `answer` writes the response itself.
 */
export async function startService(
  answer: (asked: ProviderRequest, response: ServerResponse) => object | undefined | Promise<object | undefined>,
): Promise<Service> {
  const requests: ProviderRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const one: ProviderRequest = {
        method: request.method ?? '',
        url: new URL(request.url ?? '/', 'http://service.test'),
        headers: request.headers,
        body: text ? JSON.parse(text) : {},
      };
      requests.push(one);
      const result = await answer(one, response);
      if (result !== undefined)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A SearXNG response for one page of the list. */
export const searxngAnswer = (pages: readonly ListedPage[], { url }: ProviderRequest, perPage = 10) => {
  const number = Number(url.searchParams.get('pageno') ?? 1);
  const shown = pages.slice((number - 1) * perPage, number * perPage);
  return {
    query: url.searchParams.get('q'),
    number_of_results: pages.length,
    results: shown.map(({ title, url: address, text }, index) => ({
      url: address,
      title,
      content: text,
      publishedDate: null,
      thumbnail: null,
      engine: 'own',
      template: 'default.html',
      parsed_url: ['http', 'x', '/', '', '', ''],
      img_src: '',
      priority: '',
      engines: ['own'],
      positions: [index + 1],
      score: 1 / (index + 1),
      category: 'general',
    })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  };
};
