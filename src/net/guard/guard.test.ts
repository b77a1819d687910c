import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolverOf } from '../loopback.suite.ts';
import { createGuard } from './guard.ts';
import { isPublicAddress, parseAddress } from './ip-address.ts';
import { createOwnPorts } from './own-ports.ts';

const REFUSED = { name: 'SecurityCompromiseError', message: 'Access to this URL is not allowed' };
const guard = createGuard();
const check = (url: string) => guard.checkUrl(new URL(url));

/** The two groups of an IPv6 address that contain an IPv4 address. */
const groups = (ipv4: string) => {
  const [a, b, c, d] = ipv4.split('.').map(Number) as [number, number, number, number];
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

describe('addresses', () => {
  const PRIVATE = [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
  ];
  const PUBLIC = [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '11.0.0.1',
  ];

  test.each(PRIVATE)('refuses %s', (address) => {
    expect(guard.allowed(address, 80)).toBe(false);
  });

  test.each(PUBLIC)('allows %s', (address) => {
    expect(guard.allowed(address, 80)).toBe(true);
  });

  test.each([
    '::',
    '::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    '8000::1',
    '2001::1',
    '2001:10::1',
    '2002::1',
    '64:ff9b:1::808:808',
  ])('refuses %s', (address) => {
    expect(guard.allowed(address, 80)).toBe(false);
  });

  test.each(['2606:4700::1111', '2a00:1450:4001:82a::200e', '2001:4860:4860::8888'])('allows %s', (address) => {
    expect(guard.allowed(address, 443)).toBe(true);
  });

  const EMBEDDED: Record<string, (ipv4: string) => string> = {
    mapped: (ipv4) => `::ffff:${groups(ipv4)}`,
    compatible: (ipv4) => `::${groups(ipv4)}`,
    translated: (ipv4) => `::ffff:0:${groups(ipv4)}`,
    NAT64: (ipv4) => `64:ff9b::${groups(ipv4)}`,
    'local NAT64': (ipv4) => `64:ff9b:1::${groups(ipv4)}`,
    '6to4': (ipv4) => `2002:${groups(ipv4)}::1`,
    Teredo: (ipv4) => `2001:0:${groups(ipv4)}::1`,
    ISATAP: (ipv4) => `2a00:1450::5efe:${groups(ipv4)}`,
    'ISATAP, global': (ipv4) => `2a00:1450::200:5efe:${groups(ipv4)}`,
  };

  test.each(Object.keys(EMBEDDED))('refuses a private address written as %s', (form) => {
    fc.assert(
      fc.property(fc.ipV4(), (ipv4) => {
        fc.pre(!isPublicAddress(parseAddress(ipv4)!));
        expect(guard.allowed(EMBEDDED[form]!(ipv4), 80)).toBe(false);
      }),
      { seed: 7, numRuns: 300 },
    );
    for (const ipv4 of PRIVATE) expect(guard.allowed(EMBEDDED[form]!(ipv4), 80)).toBe(false);
  });

  test.each(['mapped', 'NAT64', 'ISATAP'])('allows a public address written as %s', (form) => {
    for (const ipv4 of PUBLIC) expect(guard.allowed(EMBEDDED[form]!(ipv4), 80)).toBe(true);
  });

  test('refuses text that is not an IP address, and never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(guard.allowed(text, 80)).toBe(parseAddress(text) !== undefined && isPublicAddress(parseAddress(text)!));
      }),
      { seed: 7 },
    );
    expect(guard.allowed('example.org', 80)).toBe(false);
    expect(guard.allowed('fe80::1%eth0', 80)).toBe(false);
  });
});

describe('spellings', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http://127.0.0.1%2e/',
    'http://%31%32%37.0.0.1/',
    'http://12\u00ad7.0.0.1/',
    'http://user:pass@127.0.0.1/',
    'http://example.org@127.0.0.1/',
    'http://127.0.0.1\\@example.org/',
    'http://0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]/',
    'http://169.254.169.254/',
    'http://[fd00:ec2::254]/',
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://ⓛocalhost/',
    'http://local\u00adhost/',
    'http://a.localhost/',
    'http://printer.local/',
    'http://a.internal/',
    'http://localhost.localdomain/',
    'http://metadata.google.internal/',
    'http://metadata/',
    'http://instance-data/',
    'http://router.home.arpa/',
    'http://metadata.goog./',
    'http://v1.metadata.goog/',
    'http://metadata.packet.net/metadata',
    'https://METADATA.Packet.Net./',
    'http://ewr1.metadata.packet.net/',
    'http://ｍｅｔａｄａｔａ.packet。net/',
    'http://meta\u00addata.packet.net/',
    'http://metadata%2epacket%2enet/',
    'http://metadata.platformequinix.com/',
    'http://metadata.tencentyun.com/latest/',
    'http://metadata.exoscale.com/',
    'http://api.metadata.cloud.ibm.com/',
    'http://rancher-metadata/',
    'http://rancher-metadata.rancher.internal/',
    'http://instance-data.ec2.internal/',
    'http://metadata.azure.internal/',
  ])('refuses %s', (url) => {
    expect(() => check(url)).toThrow(expect.objectContaining(REFUSED));
  });

  test.each([
    'http://example.org/',
    'https://1.1.1.1/',
    'http://8.8.8.8:8080/',
    'http://localhost.example.org/',
    'http://internal.example.org/',
    'http://packet.net/',
    'http://www.packet.net/',
    'http://mymetadata.packet.net/',
    'http://metadata.packet.net.example.org/',
    'http://deploy.equinix.com/',
    'http://cloud.ibm.com/',
    'http://metadata.example.org/',
    'http://wiki/',
    'http://nas.lan/',
  ])('leaves %s to DNS', (url) => {
    expect(() => check(url)).not.toThrow();
  });

  test.each(['file:///etc/passwd', 'ftp://example.org/', 'data:text/html,x', 'gopher://example.org/'])(
    'refuses %s by its scheme',
    (url) => {
      expect(() => check(url)).toThrow(
        expect.objectContaining({ name: 'ParamValidationError', facts: { path: 'url' } }),
      );
    },
  );
});

describe('ports', () => {
  test.each([0, 1, 22, 25, 6000, 6667, 10080])('refuses port %i', (port) => {
    expect(() => check(`http://example.org:${port}/`)).toThrow(expect.objectContaining(REFUSED));
    expect(guard.allowed('8.8.8.8', port)).toBe(false);
  });

  test.each([80, 443, 3000, 8080, 65535])('allows port %i', (port) => {
    expect(() => check(`http://example.org:${port}/`)).not.toThrow();
    expect(guard.allowed('8.8.8.8', port)).toBe(true);
  });

  test('allows a refused port only if the operator names it', () => {
    const withNetwork = createGuard({ allow: ['10.0.0.0/8', 'mail.example'] });
    expect(withNetwork.allowed('10.0.0.1', 80)).toBe(true);
    expect(withNetwork.allowed('10.0.0.1', 25)).toBe(false);
    const withPort = createGuard({ allow: ['10.0.0.1:25', 'mail.example:25'] });
    expect(withPort.allowed('10.0.0.1', 25)).toBe(true);
    expect(withPort.allowed('10.0.0.2', 25)).toBe(false);
    expect(withPort.allowed('8.8.8.8', 25)).toBe(false);
    expect(withPort.allowed('8.8.8.8', 25, 'mail.example')).toBe(true);
  });
});

describe('names', () => {
  const names = {
    'site.example': ['93.184.216.34'],
    'mixed.example': ['93.184.216.34', '10.0.0.1'],
    'inside.example': ['192.168.0.1'],
    'mapped.example': ['::ffff:10.0.0.1'],
    'none.example': [],
  };
  const named = createGuard({ lookup: resolverOf(names) });

  test('resolves a public name with one lookup', async () => {
    expect(await named.resolve('site.example', 80)).toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(await named.resolve('SITE.example.', 80)).toHaveLength(1);
  });

  test.each(['mixed.example', 'inside.example', 'mapped.example'])(
    'refuses %s with the usual message',
    async (name) => {
      await expect(named.resolve(name, 80)).rejects.toMatchObject(REFUSED);
    },
  );

  test.each(['absent.example', 'none.example'])('reports that %s does not exist', async (name) => {
    await expect(named.resolve(name, 80)).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'url' },
    });
  });

  test('reports a resolver that fails or times out as a failure of the read', async () => {
    const failing = createGuard({
      lookup: async () => Promise.reject(Object.assign(new Error('again'), { code: 'EAI_AGAIN' })),
    });
    await expect(failing.resolve('site.example', 80)).rejects.toMatchObject({ name: 'AssertionFailureError' });
    const silent = createGuard({ lookup: () => new Promise(() => {}), lookupTimeoutMs: 20 });
    await expect(silent.resolve('site.example', 80)).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  test('stops waiting for the resolver when aborted', async () => {
    const silent = createGuard({ lookup: () => new Promise(() => {}) });
    const controller = new AbortController();
    const resolved = silent.resolve('site.example', 80, controller.signal);
    controller.abort(new Error('aborted'));
    await expect(resolved).rejects.toThrow('aborted');
  });

  test('never looks up an IP address or a name of this machine', async () => {
    const lookups: string[] = [];
    const counting = createGuard({
      lookup: async (name) => {
        lookups.push(name);
        return [{ address: '8.8.8.8', family: 4 }];
      },
    });
    expect(await counting.resolve('8.8.4.4', 80)).toEqual([{ address: '8.8.4.4', family: 4 }]);
    expect(await counting.resolve('[2606:4700::1111]', 80)).toEqual([{ address: '2606:4700::1111', family: 6 }]);
    expect(await counting.resolve('[::ffff:8.8.4.4]', 80)).toEqual([{ address: '8.8.4.4', family: 4 }]);
    await expect(counting.resolve('127.0.0.1', 80)).rejects.toMatchObject(REFUSED);
    await expect(counting.resolve('localhost', 80)).rejects.toMatchObject(REFUSED);
    expect(lookups).toEqual([]);
  });

  test('refuses the names of this server', async () => {
    const own = createGuard({
      isOwnHost: (name) => name === 'reader.example',
      lookup: resolverOf({ 'reader.example': ['8.8.8.8'] }),
    });
    expect(() => own.checkUrl(new URL('http://reader.example/'))).toThrow(expect.objectContaining(REFUSED));
    await expect(own.resolve('reader.example', 80)).rejects.toMatchObject(REFUSED);
  });
});

describe("the server's own ports", () => {
  const ownPorts = createOwnPorts();
  ownPorts.add(3000);
  const own = createGuard({
    allow: ['127.0.0.0/8', '::1', '0.0.0.0', 'name.example'],
    ownPorts,
    lookup: resolverOf({ 'name.example': ['127.0.0.1'] }),
  });
  const machine = Object.values(networkInterfaces()).flatMap((list) => list!.map(({ address }) => address));

  test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '0.0.0.0', ...machine])(
    'are refused at %s',
    async (address) => {
      const open = createGuard({ allow: [address], ownPorts });
      expect(open.allowed(address, 3001)).toBe(true);
      expect(open.allowed(address, 3000)).toBe(false);
    },
  );

  test('are refused under any name, but allowed on other hosts', async () => {
    await expect(own.resolve('name.example', 3000)).rejects.toMatchObject(REFUSED);
    expect(await own.resolve('name.example', 3001)).toHaveLength(1);
    expect(() => own.checkUrl(new URL('http://127.0.0.1:3000/'))).toThrow(expect.objectContaining(REFUSED));
    expect(own.allowed('8.8.8.8', 3000)).toBe(true);
  });

  test('are refused on the machines of its browsers, even in an allowed network', () => {
    const ports = createOwnPorts();
    ports.addElsewhere('10.0.0.21', 9222);
    ports.addElsewhere('fd00::21', 9222);
    const open = createGuard({ allow: ['10.0.0.0/8', 'fd00::/8'], ownPorts: ports });
    for (const address of ['10.0.0.21', '::ffff:10.0.0.21', 'fd00:0::21']) {
      expect(open.allowed(address, 9222), address).toBe(false);
      expect(open.allowed(address, 80), address).toBe(true);
    }
    expect(open.allowed('10.0.0.22', 9222)).toBe(true);
  });
});

describe('the allow list', () => {
  const resolve = (allow: string[], names: Record<string, string[]>, name: string, port: number) =>
    createGuard({ allow, lookup: resolverOf(names) }).resolve(name, port);

  test.each([
    ['10.0.0.0/8', '10.1.2.3', 80, true],
    ['10.0.0.0/8', '11.1.2.3', 80, true],
    ['10.0.0.0/8', '192.168.0.1', 80, false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', 80, true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', 80, true],
    ['127.0.0.1', '127.0.0.1', 1234, true],
    ['127.0.0.1', '127.0.0.2', 1234, false],
    ['127.0.0.1:8080', '127.0.0.1', 8080, true],
    ['127.0.0.1:8080', '127.0.0.1', 8081, false],
    ['[::1]:8080', '::1', 8080, true],
    ['[::1]:8080', '::1', 8081, false],
    ['::1', '::1', 8081, true],
    ['fd00::/8', 'fd12::1', 80, true],
    ['169.254.0.0/16', '169.254.1.1', 80, true],
    ['169.254.0.0/16', '169.254.169.254', 80, false],
    ['0.0.0.0/0', '169.254.169.254', 80, false],
    ['169.254.0.0/16', '169.254.42.42', 80, false],
    ['169.254.0.0/16', '169.254.0.23', 80, false],
    ['fd00::/8', 'fd00:c1::a9fe:a9fe', 80, false],
    ['fd00::/8', 'fd00:a9fe:a9fe::1', 80, false],
    ['fe80::/10', 'fe80::a9fe:a9fe', 80, false],
    ['169.254.169.254', '169.254.169.254', 80, true],
  ] as const)('%s: %s port %i is %s', (entry, address, port, expected) => {
    expect(createGuard({ allow: [entry] }).allowed(address, port)).toBe(expected);
  });

  test('a name allows the addresses that it resolves to, for that name only', async () => {
    const names = { 'wiki.corp': ['10.0.0.5'], 'other.corp': ['10.0.0.5'] };
    expect(await resolve(['wiki.corp'], names, 'wiki.corp', 80)).toHaveLength(1);
    expect(await resolve(['wiki.corp:8080'], names, 'wiki.corp', 8080)).toHaveLength(1);
    await expect(resolve(['wiki.corp:8080'], names, 'wiki.corp', 80)).rejects.toMatchObject(REFUSED);
    await expect(resolve(['wiki.corp'], names, 'other.corp', 80)).rejects.toMatchObject(REFUSED);
  });

  test('a metadata service at a public address must be allowed by its name', async () => {
    const names = { 'metadata.packet.net': ['192.80.8.124'], 'metadata.platformequinix.com': ['192.80.8.124'] };
    for (const name of Object.keys(names)) {
      await expect(resolve([], names, name, 80)).rejects.toMatchObject(REFUSED);
      await expect(resolve([], names, `${name}.`, 80)).rejects.toMatchObject(REFUSED);
      await expect(resolve(['0.0.0.0/0'], names, name, 80)).rejects.toMatchObject(REFUSED);
      expect(await resolve([name], names, name, 80)).toHaveLength(1);
    }
  });

  test('a single-label or home-network name is decided by its addresses', async () => {
    const names = { wiki: ['10.0.0.5'], 'nas.lan': ['192.168.0.5'], ai: ['93.184.216.34'] };
    await expect(resolve([], names, 'wiki', 80)).rejects.toMatchObject(REFUSED);
    await expect(resolve([], names, 'nas.lan', 80)).rejects.toMatchObject(REFUSED);
    expect(await resolve(['10.0.0.0/8'], names, 'wiki', 80)).toHaveLength(1);
    expect(await resolve([], names, 'ai', 80)).toHaveLength(1);
  });

  test('localhost can be allowed by name', async () => {
    const names = { localhost: ['127.0.0.1', '::1'] };
    expect(await resolve(['localhost:3456'], names, 'localhost', 3456)).toHaveLength(2);
    await expect(resolve(['localhost:3456'], names, 'localhost', 3457)).rejects.toMatchObject(REFUSED);
  });

  test.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'http://a.b',
    'a b',
    '127.0.0.1:99999',
    '127.0.0.1:0',
    '2130706433',
    'a.b/c',
    'user@a.b',
    'a.b:x',
    '[::1',
    '*',
  ])('rejects the entry %s', (entry) => {
    expect(() => createGuard({ allow: [entry] })).toThrow(`"${entry}"`);
  });
});
