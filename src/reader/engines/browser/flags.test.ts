import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bench, startBench } from './browser.suite.ts';

let bench: Bench;
let command = '';
beforeAll(async () => {
  bench = await startBench();
  await bench.pool.warm();
  const { pid } = bench.pool.status();
  command =
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', '\n')
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
});
afterAll(() => bench.close());

it.each([
  ['--proxy-bypass-list=<-loopback>'],
  ['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
  ['--disable-quic'],
  ['--force-webrtc-ip-handling-policy=disable_non_proxied_udp'],
  ['--webrtc-ip-handling-policy=disable_non_proxied_udp'],
  ['--dns-prefetch-disable'],
  ['--no-pings'],
  ['--disable-domain-reliability'],
  ['--disable-component-update'],
  ['--disable-background-networking'],
  ['--disable-sync'],
  ['--block-new-web-contents'],
  ['--deny-permission-prompts'],
  ['--lang=en-US'],
  ['--accept-lang=en-US,en'],
])('runs with %s', (flag) => expect(command).toContain(flag));

it('uses the egress proxy', () => expect(command).toContain(`--proxy-server=${bench.egress.url}`));

it('does not reveal the proxy password on the command line', () =>
  expect(command).not.toContain(bench.egress.password));

it('does not override the feature lists of Playwright', () =>
  expect(command.match(/--disable-features=/g)).toHaveLength(1));

it('reports whether it is sandboxed', () => {
  expect(bench.pool.status().sandboxed).toBe(!command.includes('--no-sandbox'));
});
