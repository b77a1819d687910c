/** Checks that each function works once: limits, reading, rendering, embedding, a flow. */
import { absent, broken, type Check, type CheckResult, ok, warning } from './finding.ts';
import { readBy } from './network-guard.ts';
import { KEYLESS_RPM, type TestServer } from './test-server.ts';

export const workChecks = (server: TestServer, hasBrowser: boolean): Check[] => [
  { group: 'Limits', name: 'Keyless limit', run: () => checkKeylessLimit(server) },
  { group: 'Limits', name: 'Wrong key', run: () => checkWrongKey(server) },
  { group: 'Work', name: 'Reading a page', run: () => checkReading(server) },
  {
    group: 'Work',
    name: 'Rendering a page',
    run: () => (hasBrowser ? checkRendering(server) : absent('no browser')),
  },
  { group: 'Work', name: 'Browser sandbox', run: () => checkSandbox(server, hasBrowser) },
  { group: 'Work', name: 'Embedding', run: () => checkEmbedding(server) },
  { group: 'Work', name: 'Flow', run: () => checkFlow(server) },
];

async function checkKeylessLimit({ fetch, urls }: TestServer): Promise<CheckResult> {
  const statuses: number[] = [];
  for (let at = 0; at <= KEYLESS_RPM; at++) statuses.push((await fetch(urls.reader)).status);
  const last = statuses.pop();
  if (last === 429 && statuses.every((status) => status === 200)) return ok('requests per IP address are limited');
  return broken(
    `responded with status ${[...statuses, last].join(', ')}`,
    'Callers without a key are not limited. Please report this bug',
  );
}

async function checkWrongKey({ fetch, urls }: TestServer): Promise<CheckResult> {
  const answer = await fetch(`${urls.models}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: 'Bearer lectern_wrong' },
    body: '{}',
  });
  return answer.status === 401
    ? ok('refused')
    : broken(`responded with status ${answer.status}, not 401`, 'Wrong keys are accepted. Please report this bug');
}

async function checkReading(server: TestServer): Promise<CheckResult> {
  const { name, data } = await readBy(server, server.pages.origin, 'direct');
  if (data?.content?.includes('Lectern serves this page to itself')) return ok('a page was converted to Markdown');
  return broken(
    `a page could not be read (${name ?? 'no content'})`,
    'Run `lectern read URL --verbose` and see its log',
  );
}

async function checkRendering(server: TestServer): Promise<CheckResult> {
  const { name, data } = await readBy(server, `${server.pages.origin}/script`, 'browser');
  const { version } = server.browser();
  if (data?.content?.includes('Written by the script of the page'))
    return ok(version ? `Chromium ${version}` : 'rendered');
  const advice =
    'Run the browser with --headless --dump-dom about:blank: its error names the missing part (on Debian, install the dependencies of `chromium`)';
  return broken(`the browser does not render pages (${name ?? 'no content'})`, advice);
}

function checkSandbox(server: TestServer, hasBrowser: boolean): CheckResult {
  if (!hasBrowser) return absent('no browser');
  const { sandboxed } = server.browser();
  if (sandboxed) return ok('pages run inside it');
  if (sandboxed === undefined) return warning('unknown: the browser did not start', 'See the check above');
  const advice =
    process.getuid?.() === 0
      ? 'Run Lectern as a user other than root: Chromium cannot use its sandbox as root'
      : 'Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; in a container, a seccomp profile for Chromium)';
  return warning('the browser runs without its sandbox', advice);
}

async function checkEmbedding({ fetch, urls, key }: TestServer): Promise<CheckResult> {
  const answer = await fetch(`${urls.models}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'lectern-static-v2', input: ['A text for the doctor.'] }),
  });
  const body = (await answer.json()) as { detail?: string; data?: { embedding?: number[] }[] };
  const vector = body.data?.[0]?.embedding;
  if (vector?.length && vector.every(Number.isFinite)) return ok(`lectern-static-v2, ${vector.length} dimensions`);
  return broken(
    body.detail ?? `responded with status ${answer.status}`,
    'The built-in model is in the package `lectern-models`. Reinstall Lectern',
  );
}

const TEXT = 'The doctor has added this sentence to the index of a flow.';

async function checkFlow({ fetch, urls }: TestServer): Promise<CheckResult> {
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
    `responded with status ${indexed.status} and ${found.status}`,
    'Start the server and see its log, which names what the flow needs',
  );
}
