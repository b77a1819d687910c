/**
 * The way out: addresses that must be refused, asked for with both engines and from inside a page, while listeners of this
 * examination's own hear whether anything arrives. That an answer is a refusal is not enough, and neither is silence.
 */
import { absent, broken, type Check, type Found, ok, warning } from './finding.ts';
import { REQUEST_KINDS } from './listeners.ts';
import type { TestServer } from './test-server.ts';

/** THE table: spellings of addresses by what is wrong with them; `PORT` is where a listener is. */
const REFUSED = {
  'This machine': [
    'http://127.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://127.1:PORT/',
    'http://127.255.255.254:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://127。0。0。1:PORT/',
    'http://user:password@127.0.0.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://0:PORT/',
    'http://localhost:PORT/',
    'http://localhost.:PORT/',
    'http://LOCALHOST:PORT/',
    'http://a.localhost:PORT/',
  ],
  'IPv6 forms of it': [
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[0:0:0:0:0:0:0:1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[64:ff9b:1::127.0.0.1]:PORT/',
    'http://[2002:7f00:1::]:PORT/',
    'http://[2001:0:7f00:1::]:PORT/',
  ],
  'Private networks': [
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://[fd00::1]/',
    'http://router.local/',
    'http://intranet.internal/',
  ],
  'Link-local, cloud metadata': [
    'http://169.254.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/',
    'http://metadata/',
    'http://metadata.packet.net/',
  ],
  'Other schemes, ports': [
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:PORT/',
    'http://9.9.9.9:22/',
    'http://9.9.9.9:6000/',
  ],
} as const;

type Engine = 'direct' | 'browser';

/** Whatever it is about an address, the answer to it is one of these. */
const REFUSALS: readonly unknown[] = ['SecurityCompromiseError', 'ParamValidationError'];
/** What is answered when there is no browser to ask with: nothing was tried then. */
const NO_ENGINE = 'ServiceNodeResourceDrainError';

export function networkGuardChecks(
  server: TestServer,
  allowed: readonly string[],
  engines: readonly Engine[],
): Check[] {
  const group = 'Way out';
  const { listenerPort: port, names, pages } = server;
  const here = (address: string) => address.replace('PORT', String(port));
  const refused = (name: string, addresses: readonly string[]): Check => ({
    group,
    name,
    run: () => quiet(server, () => refusals(server, addresses, engines)),
  });
  const away = (to: string) => `${pages.origin}/away?to=${encodeURIComponent(to)}`;
  return [
    { group, name: 'Listeners', run: () => checkListeners(server) },
    { group, name: 'Networks allowed', run: () => networks(allowed) },
    ...Object.entries(REFUSED).map(([name, addresses]) => refused(name, addresses.map(here))),
    refused('Names that lead here', [`http://${names.private}:${port}/`, `http://${names.mixed}:${port}/`]),
    refused(
      'Redirects',
      [
        here('http://127.0.0.1:PORT/'),
        here('http://[::1]:PORT/'),
        here('http://2130706433:PORT/'),
        `http://${names.private}:${port}/`,
        'http://169.254.169.254/',
      ].map(away),
    ),
    { group, name: 'A name that changes', run: () => quiet(server, () => changing(server, engines)) },
    {
      group,
      name: 'From inside a page',
      run: () => (engines.includes('browser') ? quiet(server, () => inside(server)) : absent('there is no browser')),
    },
  ];
}

/** What the listeners have heard meanwhile is worse than any answer. */
async function quiet(server: TestServer, run: () => Promise<Found>): Promise<Found> {
  const heard = () => server.listeners.reduce((sum, { connections }) => sum + connections(), 0);
  const before = heard();
  const found = await run();
  const arrived = heard() - before;
  if (arrived === 0) return found;
  const advice = 'Stop this server and report it: whoever may read with it can read what only this machine may';
  return broken(`${arrived} connections arrived at a listener that nothing may reach`, advice);
}

async function checkListeners({ listeners }: TestServer): Promise<Found> {
  const heard = await Promise.all(listeners.map((listener) => listener.countsConnections()));
  if (heard.every(Boolean)) return ok(`${heard.length} on this machine, and each hears`);
  return broken(
    'a listener of this examination hears nothing',
    'Its silence would prove nothing: something on this machine keeps local connections back',
  );
}

function networks(allowed: readonly string[]): Found {
  if (!allowed.length) return ok('none but public ones');
  return warning(
    allowed.join(', '),
    'LECTERN_ALLOW_NETWORKS lets callers read these; the checks below are made without',
  );
}

interface Answer {
  readonly code?: number;
  readonly name?: string;
  readonly data?: { readonly content?: string } | null;
}

export async function readBy(
  server: TestServer,
  url: string,
  engine: Engine | 'auto',
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await server.fetch(server.urls.reader, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${server.key}`,
      'x-engine': engine,
      'x-no-cache': 'true',
      'x-timeout': '15',
      ...headers,
    },
    body: JSON.stringify({ url }),
  });
  return (await answer.json()) as Answer;
}

async function refusals(server: TestServer, addresses: readonly string[], engines: readonly Engine[]): Promise<Found> {
  const wrong: string[] = [];
  let untried = 0;
  for (const engine of engines) {
    for (const address of addresses) {
      const { name = 'an answer' } = await readBy(server, address, engine);
      if (name === NO_ENGINE) untried++;
      else if (!REFUSALS.includes(name)) wrong.push(`${address} (${engine}: ${name})`);
    }
  }
  const how = `${engines.join(' and ')}, nothing arrived`;
  if (!wrong.length && untried)
    return warning(
      `${untried} could not be asked for, nothing arrived`,
      'The browser does not start: see its check below',
    );
  if (!wrong.length) return ok(`${addresses.length} refused by ${how}`);
  return broken(`not refused: ${wrong.slice(0, 5).join(', ')}`, 'Report it: these addresses are not for callers');
}

/** First it is an address that may be read, then another of this machine: what was checked is what is dialled. */
async function changing(server: TestServer, engines: readonly Engine[]): Promise<Found> {
  if (!server.hasChanging) return absent('this machine has one local address only');
  const url = `http://${server.names.changing}:${server.pages.port}/`;
  const first = await readBy(server, url, 'direct');
  if (first.code !== 200)
    return broken(
      `the first read failed: ${first.name}`,
      'This check did not come to an end: that is a fault of its own',
    );
  return refusals(server, [url], engines);
}

/** Each way on a page of its own: a page is stopped at the first address that it may not have. */
async function inside(server: TestServer): Promise<Found> {
  const failed: string[] = [];
  for (const way of Object.keys(REQUEST_KINDS)) {
    const headers = { 'x-wait-for-selector': '#tried' };
    const { code, name, data } = await readBy(server, `${server.pages.origin}/inside?way=${way}`, 'browser', headers);
    const isTried = code === 200 && data?.content?.includes('All was tried');
    if (!isTried && name !== 'SecurityCompromiseError') failed.push(`${way}: ${name ?? code}`);
  }
  if (!failed.length) return ok(`${Object.keys(REQUEST_KINDS).join(', ')}: nothing arrived`);
  return warning(
    `not all could be tried (${failed.join(', ')})`,
    'The browser may be too slow here: see its check below',
  );
}
