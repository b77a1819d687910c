/**
 * Checks of the network guard. They request forbidden URLs with both engines and from a web page. A check passes only
 * if every request is refused and no listener received a connection.
 */
import { absent, broken, type Check, type CheckResult, ok, warning } from './finding.ts';
import { REQUEST_KINDS } from './listeners.ts';
import type { TestServer } from './test-server.ts';

/** Forbidden URLs in many spellings, keyed by the name of the check. `PORT` is replaced with the port of a listener. */
const FORBIDDEN = {
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
  'IPv6 forms': [
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
  'Other schemes and ports': [
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:PORT/',
    'http://9.9.9.9:22/',
    'http://9.9.9.9:6000/',
  ],
} as const;

type Engine = 'direct' | 'browser';

/** Errors that count as refusals. */
const REFUSALS: readonly unknown[] = ['SecurityCompromiseError', 'ParamValidationError'];
/** The error if the browser does not start. In that case, nothing was tested. */
const NO_ENGINE = 'ServiceNodeResourceDrainError';

export function networkGuardChecks(
  server: TestServer,
  allowed: readonly string[],
  engines: readonly Engine[],
): Check[] {
  const group = 'Network guard';
  const { listenerPort: port, names, pages } = server;
  const withPort = (url: string) => url.replace('PORT', String(port));
  const refused = (name: string, urls: readonly string[]): Check => ({
    group,
    name,
    run: () => withoutConnections(server, () => checkRefused(server, urls, engines)),
  });
  const redirectTo = (url: string) => `${pages.origin}/redirect?to=${encodeURIComponent(url)}`;
  return [
    { group, name: 'Listeners', run: () => checkListeners(server) },
    { group, name: 'Allowed networks', run: () => checkAllowedNetworks(allowed) },
    ...Object.entries(FORBIDDEN).map(([name, urls]) => refused(name, urls.map(withPort))),
    refused('Names resolving here', [`http://${names.private}:${port}/`, `http://${names.mixed}:${port}/`]),
    refused(
      'Redirects',
      [
        withPort('http://127.0.0.1:PORT/'),
        withPort('http://[::1]:PORT/'),
        withPort('http://2130706433:PORT/'),
        `http://${names.private}:${port}/`,
        'http://169.254.169.254/',
      ].map(redirectTo),
    ),
    { group, name: 'DNS rebinding', run: () => withoutConnections(server, () => checkRebinding(server, engines)) },
    {
      group,
      name: 'Requests by a page',
      run: () =>
        engines.includes('browser')
          ? withoutConnections(server, () => checkPageRequests(server))
          : absent('no browser'),
    },
  ];
}

/** Runs a check, and fails it if a listener received a connection during the check. */
async function withoutConnections(server: TestServer, run: () => Promise<CheckResult>): Promise<CheckResult> {
  const count = () => server.listeners.reduce((sum, { connections }) => sum + connections(), 0);
  const before = count();
  const found = await run();
  const arrived = count() - before;
  if (arrived === 0) return found;
  const advice = 'Stop this server and report this bug: callers can reach services that only this machine may reach';
  return broken(`${arrived} connections arrived at a listener that must not be reachable`, advice);
}

async function checkListeners({ listeners }: TestServer): Promise<CheckResult> {
  const counted = await Promise.all(listeners.map((listener) => listener.countsConnections()));
  if (counted.every(Boolean)) return ok(`${counted.length} on this machine, all receive connections`);
  return broken(
    'a listener of the doctor receives no connections',
    'The checks below prove nothing. Find out what blocks local connections on this machine (often a firewall)',
  );
}

function checkAllowedNetworks(allowed: readonly string[]): CheckResult {
  if (!allowed.length) return ok('public ones only');
  return warning(
    allowed.join(', '),
    'LECTERN_ALLOW_NETWORKS lets callers read these networks. The checks below ignore this setting',
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

async function checkRefused(
  server: TestServer,
  urls: readonly string[],
  engines: readonly Engine[],
): Promise<CheckResult> {
  const wrong: string[] = [];
  let untried = 0;
  for (const engine of engines) {
    for (const url of urls) {
      const { name = 'an answer' } = await readBy(server, url, engine);
      if (name === NO_ENGINE) untried++;
      else if (!REFUSALS.includes(name)) wrong.push(`${url} (${engine}: ${name})`);
    }
  }
  const engineNames = engines.join(' and ');
  if (!wrong.length && untried)
    return warning(
      `${untried} could not be tried, no connection arrived`,
      'The browser does not start: see its check below',
    );
  if (!wrong.length) return ok(`${urls.length} refused by ${engineNames}, no connection arrived`);
  return broken(
    `not refused: ${wrong.slice(0, 5).join(', ')}`,
    'Please report this bug: callers must not be able to request these URLs',
  );
}

/**
 * The name resolves to an allowed IP address first, and then to a forbidden one. The guard must check the address that
 * it actually connects to.
 */
async function checkRebinding(server: TestServer, engines: readonly Engine[]): Promise<CheckResult> {
  if (!server.canRebind) return absent('this machine has only one local address');
  const url = `http://${server.names.changing}:${server.pages.port}/`;
  const first = await readBy(server, url, 'direct');
  if (first.code !== 200)
    return broken(`the first read failed: ${first.name}`, 'The check itself failed. This is a bug: please report it');
  return checkRefused(server, [url], engines);
}

/** Uses a separate page for each kind of request, because a page is stopped at its first forbidden request. */
async function checkPageRequests(server: TestServer): Promise<CheckResult> {
  const failed: string[] = [];
  for (const kind of Object.keys(REQUEST_KINDS)) {
    const headers = { 'x-wait-for-selector': '#tried' };
    const { code, name, data } = await readBy(server, `${server.pages.origin}/attack?kind=${kind}`, 'browser', headers);
    const isTried = code === 200 && data?.content?.includes('All was tried');
    if (!isTried && name !== 'SecurityCompromiseError') failed.push(`${kind}: ${name ?? code}`);
  }
  if (!failed.length) return ok(`${Object.keys(REQUEST_KINDS).join(', ')}: no connection arrived`);
  return warning(`not all could be tried (${failed.join(', ')})`, 'The browser may be too slow: see its check below');
}
