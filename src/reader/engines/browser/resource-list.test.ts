import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createTrace } from '#telemetry/trace.ts';
import { type Bench, startBench } from './browser.suite.ts';
import { openResourceList, parseResourceList } from './resource-list.ts';

const PAGE = 'https://news.example/story';

const LIST = `[Adblock Plus 2.0]
! Title: a list
# hosts file
127.0.0.1 localhost
0.0.0.0 exact.test second.test # two names
:: six.test
domain.test
*.wild.test
.dotted.test
b\u00fccher.test
||rule.test^
||third.test^$third-party
@@||good.rule.test^
||rule.test/path/*
||narrow.test^$script
/banner/*
##.advert
shop.example##.advert
not a host
`;

describe('the list of resources', () => {
  const { list, hosts, ignored } = parseResourceList(LIST);
  const blocks = (host: string, page = PAGE) => list.blocks(`https://${host}/a.js`, page);

  it.each(['exact.test', 'second.test', 'six.test', 'domain.test', 'sub.domain.test', 'a.wild.test', 'a.dotted.test'])(
    'blocks %s',
    (host) => expect(blocks(host)).toBe(true),
  );

  it.each(['xn--bcher-kva.test', 'rule.test', 'a.rule.test', 'third.test'])('blocks %s', (host) =>
    expect(blocks(host)).toBe(true),
  );

  it.each(['sub.exact.test', 'good.rule.test', 'narrow.test', 'notdomain.test', 'localhost', 'shop.example'])(
    'does not block %s',
    (host) => expect(blocks(host)).toBe(false),
  );

  it('counts its hosts and the lines that cannot be used', () => {
    expect({ hosts, ignored }).toEqual({ hosts: 9, ignored: 6 });
  });

  it('does not apply to the site of the page', () => {
    expect(blocks('cdn.domain.test', 'https://www.domain.test/')).toBe(false);
  });
});

it('is read from a file again when that changes, and must be text', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-resource-list-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'list.txt');
  const lines: object[] = [];
  const log = { info: (facts: object) => void lines.push(facts), warn: (facts: object) => void lines.push(facts) };
  await expect(openResourceList(file, log)).rejects.toThrow();
  await writeFile(file, 'ads.test\n');
  const list = await openResourceList(file, log);
  onTestFinished(() => list.close());
  expect(lines).toEqual([{ hosts: 1, ignored: 0 }]);
  expect(list.blocks('https://ads.test/', PAGE)).toBe(true);
  await writeFile(file, Buffer.from([0xff, 0xfe]));
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(2);
  expect(list.blocks('https://ads.test/', PAGE)).toBe(true);
  await writeFile(file, 'other.test\nmore.test\n');
  await expect.poll(() => list.blocks('https://ads.test/', PAGE), { timeout: 20_000 }).toBe(false);
});

describe('a page in the browser', () => {
  let bench: Bench;
  const hosts: string[] = [];
  beforeAll(async () => {
    bench = await startBench({
      names: { 'ads.test': '127.0.0.1', 'cdn.test': '127.0.0.1' },
      tools: { resourceList: parseResourceList('ads.test').list },
      pages: {
        '/page': ({ response, request }) => {
          const port = request.headers.host!.split(':')[1];
          response.setHeader('content-type', 'text/html');
          response.end(
            `<!doctype html><title>Page</title><p>Text.</p>${['ads.test', 'cdn.test']
              .map((host) => `<script src="http://${host}:${port}/part"></script>`)
              .join('')}`,
          );
        },
        '/part': ({ response, request }) => {
          hosts.push(request.headers.host!.replace(/:.*/, ''));
          response.end("document.body.append('loaded ')");
        },
      },
    });
  });
  afterAll(() => bench.close());

  it('loads no resource of a listed host, and the trace counts those', async () => {
    const trace = createTrace();
    const page = (await bench.visit('/page', {}, { trace })).at(-1)!;
    expect(page.text.match(/loaded /g)).toHaveLength(1);
    expect(hosts).toEqual(['cdn.test']);
    expect(trace.shown().counts.blocked).toBe(1);
  });
});
