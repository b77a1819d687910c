import { describe, expect, it } from 'vitest';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { createAbuseRefusals } from './abuse-refusals.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const REASON = 'it made too many requests';

function abuseAt(refusalMs = 3_600_000) {
  let now = start;
  const clock = () => now;
  const abuse = createAbuseRefusals({ refusalMs, store: createMemoryValues({ clock }), clock });
  return {
    async stopped(...urls: string[]) {
      for (const url of urls) await abuse.add(url, REASON);
    },
    async isRefused(url: string, keyed = false): Promise<boolean> {
      try {
        await abuse.check(url, keyed);
        return false;
      } catch {
        return true;
      }
    },
    check: (url: string) => abuse.check(url, false),
    wait: (ms: number) => {
      now += ms;
    },
  };
}

const several = (count: number, urlOf: (at: number) => string) => Array.from({ length: count }, (_, at) => urlOf(at));

describe('a page that was stopped', () => {
  it('is refused to callers without a key until the time is over, with the time and the reason', async () => {
    const { stopped, check, isRefused, wait } = abuseAt();
    await stopped('https://shared.example/~bad/page');
    await expect(check('http://shared.example:8080/~bad/page#part')).rejects.toThrow(
      expect.objectContaining({
        name: 'SecurityCompromiseError',
        status: 45102,
        message: 'This page cannot be read without a key until 2026-03-01T13:00:00.000Z: it made too many requests',
        facts: { path: 'url', retryAfter: 3_600 },
      }),
    );
    wait(3_599_999);
    expect(await isRefused('https://shared.example/~bad/page')).toBe(true);
    wait(1);
    expect(await isRefused('https://shared.example/~bad/page')).toBe(false);
  });

  it('leaves the other pages of its host readable, and all pages to callers with a key', async () => {
    const { stopped, isRefused } = abuseAt();
    await stopped('https://shared.example/~bad/page', 'https://shared.example/topic?id=7');
    for (const path of ['', '~bad/', '~bad/other', '~good/page', 'topic?id=8', 'topic'])
      expect(await isRefused(`https://shared.example/${path}`), path).toBe(false);
    for (const url of ['https://www.shared.example/~bad/page', 'blob:0123', 'nonsense'])
      expect(await isRefused(url), url).toBe(false);
    expect(await isRefused('https://shared.example/topic?id=7')).toBe(true);
    expect(await isRefused('https://shared.example/~bad/page', true)).toBe(false);
  });

  it('is refused whatever its query once several of its queries were stopped, and counts as one page', async () => {
    const { stopped, isRefused, check } = abuseAt();
    await stopped(...several(4, (at) => `https://shared.example/~bad/page?n=${at}`));
    expect(await isRefused('https://shared.example/~bad/page?n=new')).toBe(false);
    await stopped(...several(1_000, (at) => `https://shared.example/~bad/page?n=${at}`));
    await expect(check('https://shared.example/~bad/page?n=new')).rejects.toThrow(
      'This page cannot be read without a key, regardless of its query string, until 2026-03-01T13:00:00.000Z: ' +
        'several pages were stopped there, the last one because it made too many requests',
    );
    expect(await isRefused('https://shared.example/~bad/other')).toBe(false);
    expect(await isRefused('https://shared.example/')).toBe(false);
  });
});

describe('a host', () => {
  it('is refused after several distinct parts of it were stopped, with a message that names the host', async () => {
    const { stopped, isRefused, check } = abuseAt();
    await stopped(
      ...several(4, (at) => `https://bad.example/${at}`),
      'https://bad.example/0?again',
      'https://bad.example/0',
    );
    expect(await isRefused('https://bad.example/new')).toBe(false);
    await stopped('https://bad.example/4');
    await expect(check('https://bad.example/new')).rejects.toThrow(
      'This host cannot be read without a key until 2026-03-01T13:00:00.000Z: ' +
        'several pages were stopped there, the last one because it made too many requests',
    );
    expect(await isRefused('https://bad.example/', true)).toBe(false);
    expect(await isRefused('https://www.bad.example/')).toBe(false);
  });

  it('is not refused for the pages of one tenant, whose folder is refused instead', async () => {
    const { stopped, isRefused, check } = abuseAt();
    await stopped(...several(50, (at) => `https://shared.example/view/bad/${at}`));
    await expect(check('https://shared.example/view/bad/new')).rejects.toThrow(
      'Pages below /view/bad/ on this host cannot be read without a key until',
    );
    for (const path of ['', 'view/', 'view/good/1', 'other']) {
      expect(await isRefused(`https://shared.example/${path}`), path).toBe(false);
    }
    await stopped(...several(4, (at) => `https://shared.example/view/bad-${at}/page`));
    expect(await isRefused('https://shared.example/view/good/1')).toBe(true);
    expect(await isRefused('https://shared.example/other')).toBe(false);
  });

  it('is refused eventually, however deep its pages are', async () => {
    const { stopped, isRefused } = abuseAt();
    const digits = (at: number) => [...at.toString(5).padStart(5, '0')].join('/');
    let pages = 0;
    while (!(await isRefused('https://bad.example/x/y')) && pages < 5 ** 5) {
      await stopped(`https://bad.example/${digits(pages)}/page?x=${pages}`);
      pages += 1;
    }
    expect(await isRefused('https://bad.example/x/y')).toBe(true);
  });

  it('does not count expired pages', async () => {
    const { stopped, isRefused, wait } = abuseAt(1_000);
    for (let at = 0; at < 20; at++) {
      await stopped(`https://calm.example/${at}`);
      wait(400);
    }
    expect(await isRefused('https://calm.example/new')).toBe(false);
  });
});

describe('the list of refusals', () => {
  it('is bounded: the oldest entries are evicted', async () => {
    const { stopped, isRefused } = abuseAt();
    await stopped(...several(10_001, (at) => `https://host-${at}.example/`));
    expect(await isRefused('https://host-0.example/')).toBe(false);
    expect(await isRefused('https://host-1.example/')).toBe(true);
  });

  it('stays empty if the duration is 0', async () => {
    const { stopped, isRefused } = abuseAt(0);
    await stopped('https://bad.example/');
    expect(await isRefused('https://bad.example/')).toBe(false);
  });
});
