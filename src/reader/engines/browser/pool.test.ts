import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, dataDir, foundBrowser, startBench, words } from './browser.suite.ts';
import { killOrphans } from './orphans.ts';

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

/** Waits for a condition that depends on another process. The time limit of the test also limits this wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const membersOf = (group: number) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return Number(pgrp) === group && state !== 'Z';
      } catch {
        return false;
      }
    });

describe.runIf(process.platform === 'linux')('the browser process', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench({ maxPages: 3 });
  });
  afterAll(() => bench.close());

  const pid = () => bench.pool.status().pid!;

  it('is started by the first read and kept for the next', async () => {
    expect(bench.pool.status()).toMatchObject({ pid: undefined, version: undefined });
    await bench.last('/article');
    const first = pid();
    await bench.last('/article');
    expect(pid()).toBe(first);
    expect(isAlive(first)).toBe(true);
  });

  it('can be killed during reads: only those reads fail', async () => {
    const before = pid();
    const reads = ['/restless', '/silent', '/drip'].map((name) =>
      bench.read(name).then(
        (pages) => pages.at(-1),
        (error) => error,
      ),
    );
    await until(
      () => bench.pool.status().pages === 3 && bench.site.hits('/silent') > 0 && bench.site.hits('/drip') > 0,
    );
    process.kill(before, 'SIGKILL');
    const outcomes = await Promise.all(reads);
    // Each read ends with an error or with its last capture, marked as unfinished.
    for (const outcome of outcomes)
      expect(outcome.settled ?? outcome.name).toSatisfy((what) => what === false || what === 'AssertionFailureError');
    expect(bench.pool.status().pages).toBe(0);
    expect(words((await bench.last('/rendered')).text)).toContain('first word');
    expect(pid()).not.toBe(before);
    await until(() => membersOf(before).length === 0);
  });

  it('can lose a renderer: only its page fails', async () => {
    const before = pid();
    const reading = bench.read('/restless').then(
      (pages) => pages.at(-1)!,
      (error) => error,
    );
    await until(() => bench.pool.status().pages === 1 && bench.site.hits('/restless') > 1);
    for (const member of membersOf(before)) {
      if (readFileSync(`/proc/${member}/cmdline`, 'utf8').includes('--type=renderer'))
        process.kill(Number(member), 'SIGKILL');
    }
    const outcome = await reading;
    expect(outcome.settled ?? outcome.name).toSatisfy(
      (what: unknown) => what === false || what === 'AssertionFailureError',
    );
    expect(words((await bench.last('/rendered')).text)).toContain('first word');
    expect(pid()).toBe(before);
  });

  it('opens at most maxPages pages, and refuses reads that would wait too long', async () => {
    const narrow = await startBench({ maxPages: 2, maxWaiting: 2 });
    try {
      const reads = Array.from({ length: 6 }, () =>
        narrow.last('/rendered').then(
          () => 'read',
          (error) => error.name,
        ),
      );
      const outcomes = await Promise.all(reads);
      expect(outcomes.filter((outcome) => outcome === 'read')).toHaveLength(4);
      expect(outcomes.filter((outcome) => outcome === 'ServiceNodeResourceDrainError')).toHaveLength(2);
      const [long, short] = [narrow.last('/silent', {}, 2_000), narrow.last('/silent', {}, 2_000)].map((read) =>
        read.catch(() => 'over'),
      );
      await expect(narrow.last('/article', {}, 500)).rejects.toMatchObject({
        name: 'ServiceNodeResourceDrainError',
        code: 503,
      });
      expect(await Promise.all([long, short])).toEqual(['over', 'over']);
      expect(narrow.pool.status()).toMatchObject({ pages: 0, waiting: 0 });
    } finally {
      await narrow.close();
    }
  });

  it('is replaced after a number of pages, and leaves no process or file', async () => {
    const short = await startBench({ recycle: { pages: 2 } });
    const seen = new Set<number>();
    for (let read = 0; read < 3; read++) {
      await short.last('/article');
      seen.add(short.pool.status().pid!);
    }
    await short.close();
    expect(seen.size).toBe(2);
    await until(() => [...seen].every((each) => membersOf(each).length === 0));
    const runs = path.join(dataDir, 'browser', 'runs');
    const left = readdirSync(runs)
      .map((name) => path.join(runs, name, 'launch.json'))
      .filter(existsSync);
    expect(left.filter((file) => seen.has(JSON.parse(readFileSync(file, 'utf8')).pid))).toEqual([]);
  });

  it('is replaced when it uses too much memory', async () => {
    const small = await startBench({ recycle: { rssBytes: 1 } });
    await small.last('/article');
    const first = small.pool.status().pid;
    await until(() => small.pool.status().pid !== first);
    expect((await small.last('/article')).status).toBe(200);
    await small.close();
  });

  it('fails with a capacity problem if it cannot start, and is not restarted at once', async () => {
    const broken = await startBench({ found: { path: '/bin/false', source: 'configured' } });
    for (let read = 0; read < 3; read++) {
      await expect(broken.last('/article')).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    }
    expect(broken.pool.status()).toMatchObject({ healthy: false, pages: 0 });
    await broken.close();
  });
});

describe.runIf(process.platform === 'linux')('a killed server', () => {
  it('leaves no browser behind after the next start', async () => {
    const data = mkdtempSync(path.join(os.tmpdir(), 'lectern-orphans-'));
    const script = fileURLToPath(new URL('./orphans.suite.ts', import.meta.url));
    const tsx = fileURLToPath(new URL('../../../../node_modules/tsx/dist/cli.mjs', import.meta.url));
    const server = execFile(process.execPath, [tsx, script, data, JSON.stringify(foundBrowser())], {
      env: { ...process.env, NODE_OPTIONS: '--conditions=source' },
    });
    server.stderr!.on('data', (chunk) => process.stderr.write(chunk));
    const told = await new Promise<string>((resolve) => server.stdout!.once('data', (chunk) => resolve(String(chunk))));
    const { server: pid, browser } = JSON.parse(told) as { server: number; browser: number };
    const [folder] = readdirSync(path.join(data, 'browser', 'runs'));
    const { profile } = JSON.parse(readFileSync(path.join(data, 'browser', 'runs', folder!, 'launch.json'), 'utf8'));
    expect(existsSync(profile)).toBe(true);
    expect(isAlive(browser)).toBe(true);
    // A stopped process does not notice that its server is gone: this is the worst case of an orphan.
    process.kill(browser, 'SIGSTOP');
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    expect(isAlive(browser)).toBe(true);
    expect(await killOrphans(data)).toBe(1);
    await until(() => !isAlive(browser));
    expect(existsSync(profile)).toBe(false);
    expect(readdirSync(path.join(data, 'browser', 'runs'))).toEqual([]);
    rmSync(data, { recursive: true });
  });

  it('does not kill another process with the same pid', async () => {
    const data = mkdtempSync(path.join(os.tmpdir(), 'lectern-orphans-'));
    const folder = path.join(data, 'browser', 'runs', '1-1');
    mkdirSync(folder, { recursive: true });
    // The PID of this process with a profile with which it was not started, and a path that is not a profile.
    const launch = { server: 2 ** 22 + 1, serverStart: '', pid: process.pid, profile: path.join(data, 'precious') };
    mkdirSync(launch.profile);
    writeFileSync(path.join(folder, 'launch.json'), JSON.stringify(launch));
    expect(await killOrphans(data)).toBe(0);
    expect(existsSync(launch.profile)).toBe(true);
    rmSync(data, { recursive: true });
  });
});
