/** The work itself, once each: limits, a read, a rendered page, an embedding, a flow. */
import { absent, broken, type Check, type Found, ok, warning } from './finding.ts';
import { readBy } from './network-guard.ts';
import { KEYLESS_RPM, type TestServer } from './test-server.ts';

export const workChecks = (server: TestServer, hasBrowser: boolean): Check[] => [
  { group: 'Limits', name: 'Without a key', run: () => keyless(server) },
  { group: 'Limits', name: 'A wrong key', run: () => wrongKey(server) },
  { group: 'Work', name: 'A read', run: () => read(server) },
  {
    group: 'Work',
    name: 'A page with scripts',
    run: () => (hasBrowser ? rendered(server) : absent('there is no browser')),
  },
  { group: 'Work', name: 'The browser’s sandbox', run: () => sandbox(server, hasBrowser) },
  { group: 'Work', name: 'An embedding', run: () => embedding(server) },
  { group: 'Work', name: 'A flow', run: () => flow(server) },
];

async function keyless({ fetch, urls }: TestServer): Promise<Found> {
  const statuses: number[] = [];
  for (let at = 0; at <= KEYLESS_RPM; at++) statuses.push((await fetch(urls.reader)).status);
  const last = statuses.pop();
  if (last === 429 && statuses.every((status) => status === 200)) return ok('the limit for an address holds');
  return broken(`answered ${[...statuses, last].join(', ')}`, 'Callers without a key are not limited: report it');
}

async function wrongKey({ fetch, urls }: TestServer): Promise<Found> {
  const answer = await fetch(`${urls.models}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: 'Bearer lectern_wrong' },
    body: '{}',
  });
  return answer.status === 401 ? ok('is refused') : broken(`was answered ${answer.status}`, 'Report it');
}

async function read(server: TestServer): Promise<Found> {
  const { name, data } = await readBy(server, server.pages.origin, 'direct');
  if (data?.content?.includes('Lectern serves this page to itself')) return ok('a page became Markdown');
  return broken(
    `a page could not be read (${name ?? 'without its content'})`,
    'See the log of `lectern read` with --verbose',
  );
}

async function rendered(server: TestServer): Promise<Found> {
  const { name, data } = await readBy(server, `${server.pages.origin}/script`, 'browser');
  const { version } = server.browser();
  if (data?.content?.includes('Written by the script of the page'))
    return ok(version ? `Chromium ${version}` : 'rendered');
  const advice =
    'Run the browser by hand with --headless --dump-dom about:blank: what it says is what is missing (on Debian, the packages that `chromium` depends on)';
  return broken(`the browser does not render (${name ?? 'without content'})`, advice);
}

function sandbox(server: TestServer, hasBrowser: boolean): Found {
  if (!hasBrowser) return absent('there is no browser');
  const { sandboxed } = server.browser();
  if (sandboxed) return ok('pages run in it');
  if (sandboxed === undefined) return warning('not known: the browser did not start', 'See the check above');
  const advice =
    process.getuid?.() === 0
      ? 'Run Lectern as another user than root: Chromium has no sandbox for root'
      : 'Let the system make user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a container, a seccomp profile for Chromium)';
  return warning('the browser runs without its own sandbox', advice);
}

async function embedding({ fetch, urls, key }: TestServer): Promise<Found> {
  const answer = await fetch(`${urls.models}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'lectern-static-v1', input: ['A text for the doctor.'] }),
  });
  const body = (await answer.json()) as { detail?: string; data?: { embedding?: number[] }[] };
  const vector = body.data?.[0]?.embedding;
  if (vector?.length && vector.every(Number.isFinite)) return ok(`lectern-static-v1, ${vector.length} numbers`);
  return broken(
    body.detail ?? `answered ${answer.status}`,
    'The built-in model lies in the folder assets of the package: install it anew',
  );
}

const TEXT = 'The doctor has put this sentence into the index of a flow.';

async function flow({ fetch, urls }: TestServer): Promise<Found> {
  const post = async (endpoint: string, text: string) => {
    const answer = await fetch(`${urls.flow}/${endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: [{ text }] }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const indexed = await post('index', TEXT);
  const found = await post('search', 'a sentence of the doctor');
  if (indexed.status === 200 && found.status === 200 && found.text.includes(TEXT))
    return ok('a text was indexed and found');
  return broken(
    `answered ${indexed.status} and ${found.status}`,
    'See the log of the server when it starts: what a flow needs is told there',
  );
}
