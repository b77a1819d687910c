/** A server with a site to read, as used by a client of the reader. Shared by the tests of the reader's rows. */
import { expect } from 'vitest';
import { type Pages, type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

export type Values = Readonly<Record<string, unknown>>;
export type Headers = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
  /** The response body, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  readonly json: any;
  /** The page, which is `data` in the envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  readonly data: any;
}

export interface ReaderHost {
  readonly server: TestServer;
  readonly site: Site;
  /** Sends the options in the query of `GET /`. */
  get(options: Values, headers?: Headers): Promise<Answer>;
  /** Sends the options in a JSON body to `POST /`. */
  post(options: Values, headers?: Headers): Promise<Answer>;
  /** Sends `GET /{url}`. */
  at(url: string, headers?: Headers): Promise<Answer>;
  /** Sends the options by GET and by POST. Returns the response, and fails if the two differ. */
  read(options: Values, headers?: Headers): Promise<Answer>;
  /** The `Authorization` header of the key that the server printed. */
  key(): Headers;
  close(): Promise<void>;
}

export interface HostSetup {
  readonly pages?: Pages;
  readonly settings?: Values | ((site: Site) => Values);
  /** `host:port` pairs, in addition to the site, that may be read. */
  readonly allow?: readonly string[];
}

/** Starts without a browser and without a cache, unless the settings specify them. */
export async function startReader({ pages = {}, settings = {}, allow = [] }: HostSetup = {}): Promise<ReaderHost> {
  const site = await startSite(pages);
  const allowNetworks = [...site.allow, ...allow].join(',');
  const more = typeof settings === 'function' ? settings(site) : settings;
  const server = await startServer({ browser: 'none', cacheMaxBytes: 0, allowNetworks, ...more });
  const get = (options: Values, headers: Headers = {}) =>
    send(`${server.reader}/?${new URLSearchParams(queryOf(options))}`, { headers });
  const post = (options: Values, headers: Headers = {}) =>
    send(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(options),
    });
  return {
    server,
    site,
    get,
    post,
    at: (url, headers = {}) => send(`${server.reader}/${url}`, { headers }),
    async read(options, headers) {
      const byGet = await get(options, headers);
      const byPost = await post(options, headers);
      if (byGet.text !== byPost.text || byGet.status !== byPost.status)
        throw new Error(`GET and POST differ:\n${byGet.text}\n${byPost.text}`);
      return byPost;
    },
    key: () => ({ authorization: `Bearer ${server.app.firstKey}` }),
    async close() {
      await server.close();
      await site.close();
    },
  };
}

const queryOf = (options: Values): [string, string][] =>
  Object.entries(options).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);

/** Requests JSON, unless the headers accept something else. Does not follow redirects. */
export async function send(url: string, { headers, ...init }: RequestInit & { headers: Headers }): Promise<Answer> {
  const answer = await fetch(url, {
    redirect: 'manual',
    ...init,
    headers: { accept: 'application/json', ...headers },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  const json = isJson ? JSON.parse(text) : undefined;
  return { status: answer.status, headers: answer.headers, text, json, data: json?.data };
}

/** The expected response if an option value is refused. */
export const refused = (path: string) => ({
  status: 400,
  json: { code: 400, status: 40001, name: 'ParamValidationError', path },
});

export interface Pair {
  readonly header: string;
  readonly option: string;
  readonly value: string;
  /** The target, with the options of all requests. */
  readonly target: Values;
  /** The headers of all requests. */
  readonly headers?: Headers;
}

/**
 * Expects that the header changes the response in the same way as the option. Tested by POST, and by GET with the URL
 * in the path if there is a URL.
 */
export async function expectSameAsOption(host: ReaderHost, pair: Pair): Promise<void> {
  const { header, option, value, target, headers = {} } = pair;
  const plain = await host.post(target, headers);
  const byOption = await host.read({ ...target, [option]: value }, headers);
  expect([byOption.status, byOption.json], `${option}: ${value}`).not.toEqual([plain.status, plain.json]);
  const byHeader = await host.post(target, { ...headers, [header]: value });
  expect([byHeader.status, byHeader.json], `${header}: ${value}`).toEqual([byOption.status, byOption.json]);
  const { url, html, pdf, file, ...more } = target;
  const isUrlAlone = url && !html && !pdf && !file;
  const others = Object.entries(more).filter(([, text]) => text !== '');
  const own = Object.fromEntries(others.map(([name, text]) => [headerOf(name), String(text)]));
  const byGet = isUrlAlone
    ? await host.at(String(url), { ...own, ...headers, [header]: value })
    : await host.get(target, { ...headers, [header]: value });
  expect([byGet.status, byGet.json], `${header}: ${value}, by GET`).toEqual([byOption.status, byOption.json]);
}

/** The header name of an option: `respondWith` becomes `x-respond-with`. */
const headerOf = (option: string) => `x-${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
