/** `lectern read` without a server, with a stub server, and with a real one. */
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestCrawls } from '../../src/crawl/crawl.suite.ts';
import { runHere, runProgram, startProgram, waitForExit } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Stub, startStub } from './stub.ts';

const LONG_MS = 240_000;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'cli-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const at = (stub: Pick<Stub, 'url'>) => ({ env: { LECTERN_URL: stub.url } });

describe('without a server', { timeout: LONG_MS }, () => {
  let site: http.Server;
  let base: string;
  const env = () => ({
    LECTERN_DATA_DIR: path.join(dir, 'data'),
    LECTERN_ALLOW_NETWORKS: '127.0.0.1',
    LECTERN_BROWSER: 'none',
  });

  beforeAll(async () => {
    site = http.createServer(({ url }, response) => {
      if (url === '/robots.txt' || url === '/sitemap.xml') return response.writeHead(404).end();
      const links =
        { '/': '<a href="/tea">Tea</a> <a href="/coffee">Coffee</a>', '/shop/': '<a href="/shop/gone">Gone</a>' }[
          url!
        ] ?? '';
      if (url!.endsWith('/gone')) response.statusCode = 410;
      if (url === '/broken') response.statusCode = 500;
      response.setHeader('content-type', 'text/html');
      response.end(
        `<title>Page ${url}</title><article><h1>Drinks ${url}</h1><p>${`Green tea, page ${url}. `.repeat(30)}</p>${links}</article>`,
      );
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  it('reads a page that a search then finds', async () => {
    const { out, error, code } = await runProgram(['read', `${base}/`, '--with-links-summary'], { env: env() });
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(out).toContain(`URL Source: ${base}/`);
    expect(out).toContain('# Drinks /');
    expect(out).toContain(`- [Tea](${base}/tea)`);
    const found = await runHere(['search', 'green', 'tea', '--index', '--json', '--respond-with', 'no-content'], {
      env: env(),
    });
    expect({ error: found.error, code: found.code }).toEqual({ error: '', code: 0 });
    expect(JSON.parse(found.out)).toMatchObject([{ url: `${base}/` }]);
  });

  it('reads the standard input as HTML with a base URL, and files by their type', async () => {
    const html = '<article><h1>Hello</h1><p>A <a href="/x">link</a>.</p></article>';
    const input = await runProgram(['read', '-', '--url', 'https://example.com/a', '--json'], {
      env: env(),
      input: html,
    });
    expect(JSON.parse(input.out)).toMatchObject({
      url: 'https://example.com/a',
      content: expect.stringContaining('[link](https://example.com/x)'),
    });
    await writeFile(path.join(dir, 'rows.csv'), 'tea,price\ngreen,3\n');
    const file = path.join(dir, 'rows.md');
    expect(await runHere(['read', path.join(dir, 'rows.csv'), '-o', file], { env: env() })).toEqual({
      out: '',
      error: '',
      code: 0,
    });
    expect(await readFile(file, 'utf8')).toContain('| green | 3 |');
  });

  it('reports the status of a target and fails with --fail', async () => {
    const gone = `${base}/gone`;
    const status = `lectern: ${gone}: the target responded with status 410\n`;
    const blocked = `lectern: ${gone}: Blocked: not-found. This is not the content of the page; tried: direct.\n`;
    const said = expect.stringContaining(status);
    const plain = await runHere(['read', gone, '-f', 'text'], { env: env() });
    expect(plain).toEqual({ out: expect.stringContaining('Green tea'), error: status + blocked, code: 0 });
    for (const form of [[], ['--json'], ['-f', 'html'], ['-o', path.join(dir, 'gone.md')]])
      expect(await runHere(['read', gone, '--fail', ...form], { env: env() })).toEqual({
        out: '',
        error: said,
        code: 22,
      });
    expect(await readdir(dir)).not.toContain('gone.md');
    const streamed = await runProgram(['read', gone, '--fail', '--stream'], { env: env() });
    expect({ ...streamed, out: JSON.parse(streamed.out) }).toMatchObject({
      out: { page: { targetStatus: 410 } },
      error: said,
      code: 22,
    });
    const whole = await runHere(['read', `${base}/tea`, '--fail'], { env: env() });
    expect({ error: whole.error, code: whole.code }).toEqual({ error: '', code: 0 });
  });

  it('prints warnings to the standard error if the output cannot contain them', async () => {
    const { error, out, code } = await runHere(['read', `${base}/tea`, '-f', 'html', '--remove-selector', '.none'], {
      env: env(),
    });
    expect({ error, code }).toEqual({
      error: `lectern: ${base}/tea: removeSelector matched nothing on this page: .none\n`,
      code: 0,
    });
    expect(out).toContain('<h1>Drinks /tea</h1>');
    const layout = await runHere(['read', `${base}/tea`, '--remove-selector', '.none'], { env: env() });
    expect(layout).toMatchObject({
      error: '',
      out: expect.stringContaining('Warning: removeSelector matched nothing'),
    });
  });

  it('counts targets with an error status separately', async () => {
    const all = ['/tea', '/gone', '/broken', '/x/gone'].map((at) => base + at);
    const kept = path.join(dir, 'kept');
    expect(await runHere(['read', ...all, '--out-dir', kept], { env: env() })).toMatchObject({
      error: expect.stringMatching(/\n4 read, 3 of them with an error status \(410 2, 500 1\)\n$/),
      code: 0,
    });
    expect(await readdir(kept)).toHaveLength(4);
    const without = path.join(dir, 'without');
    const run = ['read', ...all, '--out-dir', without, '--fail'];
    expect(await runHere(run, { env: env() })).toMatchObject({
      error: expect.stringContaining('1 read, 3 responded with an error status (410 2, 500 1)'),
      code: 22,
    });
    expect((await readdir(without)).filter((name) => name.endsWith('.md'))).toHaveLength(1);
    const failures = (await readFile(path.join(without, 'failures.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(failures.map((line) => JSON.parse(line).targetStatus).sort()).toEqual([410, 410, 500]);
    const mixed = await runHere([...run, 'http://10.0.0.1/'], { env: env() });
    expect(mixed.code).toBe(3);
    const lines = await runHere(['read', ...all, '--json', '--fail'], { env: env() });
    expect(lines.code).toBe(22);
    expect(
      lines.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ page, targetStatus }) => page?.targetStatus ?? targetStatus),
    ).toEqual([200, 410, 500, 410]);
  });

  it('counts them separately for a site too', async () => {
    const site = ['read', '--site', `${base}/shop/`, '--delay', '0', '--no-sitemap', '--json'];
    const summary = '1 read, 1 responded with an error status (410 1)';
    const plain = await runHere(site, { env: env() });
    expect(plain).toMatchObject({ error: expect.stringContaining(summary), code: 3 });
    expect(JSON.parse(plain.out)).toMatchObject({ page: { targetStatus: 200 } });
    const failing = await runHere([...site, '--fail'], { env: env() });
    expect(failing).toMatchObject({ error: expect.stringContaining(summary), code: 22 });
  });

  it('reads a site into a folder and resumes an interrupted run', async () => {
    const site = ['read', '--site', `${base}/`, '--delay', '0', '--no-sitemap', '--out-dir', path.join(dir, 'site')];
    const whole = await runHere(site, { env: env() });
    expect(whole).toMatchObject({
      out: '',
      code: 0,
      error: expect.stringMatching(/^lectern: run crawl_\w+\nlectern: 3 read\n$/),
    });
    const names = await readdir(path.join(dir, 'site'));
    expect(names.map((name) => name.replace(/-[0-9a-f]{8}\.md$/, '')).sort()).toEqual(
      ['', '-coffee', '-tea'].map((end) => `${base.slice(7).replace(':', '-')}${end}`),
    );

    const child = startProgram(['read', '--site', `${base}/`, '--delay', '1000', '--json'], { env: env() });
    const first = once(child.stdout, 'data');
    const stopped = waitForExit(child);
    await first;
    child.kill('SIGINT');
    const { error, code, out } = await stopped;
    expect(code).toBe(130);
    const [, id, line] = /--resume (crawl_\w+)@(\d+)/.exec(error)!;
    const rest = await runHere(['read', '--site', '--resume', `${id}@${line}`, '--json'], { env: env() });
    expect(rest.code).toBe(0);
    const sources = (text: string) =>
      text
        .split('\n')
        .filter(Boolean)
        .map((one) => JSON.parse(one).source);
    expect([...sources(out), ...sources(rest.out)].sort()).toEqual([`${base}/`, `${base}/coffee`, `${base}/tea`]);
  });

  it('says how to resume when a page of a site cannot be written', async () => {
    const place = path.join(dir, 'no-room');
    const site = ['read', '--site', `${base}/`, '--delay', '0', '--no-sitemap', '--out-dir', place];
    await runHere(site, { env: env() });
    const name = (await readdir(place)).find((one) => one.includes('-tea-'))!;
    await rm(path.join(place, name));
    await mkdir(path.join(place, name));
    const failed = await runHere([...site, '--force'], { env: env() });
    expect(failed.code).toBe(1);
    const [, run] = /--resume (crawl_\w+@\d+) --out-dir/.exec(failed.error)!;
    await rm(path.join(place, name), { recursive: true });
    const rest = await runHere(['read', '--site', '--resume', run!, '--out-dir', place], { env: env() });
    expect(rest.code).toBe(0);
    expect(await readFile(path.join(place, name), 'utf8')).toContain('Markdown Content:');
    expect((await readdir(place)).every((one) => one.endsWith('.md'))).toBe(true);
  });

  it('says why no page of a site was read', async () => {
    const closed = http.createServer(({ url }, response) => {
      response.end(url === '/robots.txt' ? 'User-agent: *\nDisallow: /' : '<h1>Tea</h1>');
    });
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
    const refused = await runHere(['read', '--site', address, '--delay', '0'], { env: env() });
    expect(refused).toMatchObject({ out: '', code: 1, error: expect.stringContaining('robots.txt forbids it') });
    const open = ['read', '--site', address, '--delay', '0', '--no-robots', '--no-sitemap', '--concurrency', '2'];
    expect(await runHere(open, { env: env() })).toMatchObject({ code: 0, out: expect.stringContaining('Tea') });
    const many = await runHere([...open, '--concurrency', '1000'], { env: env() });
    expect(many).toMatchObject({ code: 2, error: expect.stringMatching(/concurrency must be at most \d+/) });
    closed.closeAllConnections();
    closed.close();
  });

  it('cancels interrupted runs, which count against the limit until then', async () => {
    const env = {
      LECTERN_DATA_DIR: path.join(dir, 'runs'),
      LECTERN_ALLOW_NETWORKS: '127.0.0.1',
      LECTERN_BROWSER: 'none',
    };
    const stopped = await openTestCrawls(() => ({}), { dataDir: env.LECTERN_DATA_DIR, jobs: 0 });
    const nobody = { owner: '', account: null };
    const ids: string[] = [];
    for (let run = 0; run < 10; run++) ids.push((await stopped.submit({ url: `${base}/run${run}` }, nobody)).id);
    await stopped.close();
    const line = ['read', '--site', `${base}/`, '--delay', '0', '--no-sitemap', '--json'];
    const refused = await runHere([...line, '--limit', '1'], { env });
    expect(refused).toMatchObject({ out: '', code: 1 });
    for (const id of ids) expect(refused.error).toContain(id);
    const given = await runHere(['read', '--site', '--cancel', ids[0]!], { env });
    expect(given).toEqual({ out: '', error: `lectern: run ${ids[0]} is cancelled\n`, code: 0 });
    expect((await runHere([...line, '--limit', '1'], { env })).code).toBe(0);
  });

  it('refuses forbidden targets in one line', async () => {
    const { out, error, code } = await runProgram(['read', 'http://10.0.0.1/'], { env: env() });
    expect({ out, error, code }).toEqual({
      out: '',
      error: expect.stringMatching(/^lectern: .*not allowed\n$/),
      code: 1,
    });
  });
});

describe('many URLs', { timeout: LONG_MS }, () => {
  const urls = (many: number) => Array.from({ length: many }, (_, one) => `https://a.test/${one}`);
  const isBad = (url: string) => Number(url.split('/').at(-1)) % 10 < 3;

  it('are read in bounded memory: pages are written, failures listed, and a second run skips what exists', async () => {
    // The pages contain 84 MB of text in total, more than the heap of the program.
    const stub = await startStub((url) => (isBad(url) ? { status: 422 } : { title: 'Title '.repeat(20_000) }));
    const list = path.join(dir, 'list.txt');
    await writeFile(list, `# URLs\n\n${urls(1_000).join('\n')}\n`);
    const pages = path.join(dir, 'pages');
    const line = ['read', '--list', list, '--out-dir', pages, '--concurrency', '16'];
    const { out, error, code } = await runProgram(line, {
      env: { ...at(stub).env, NODE_OPTIONS: '--max-old-space-size=48' },
    });
    expect(code).toBe(3);
    expect(out).toBe('');
    const lines = error.trimEnd().split('\n');
    expect(lines).toHaveLength(301);
    expect(lines.at(-1)).toBe(
      `lectern: 700 read, 300 failed (AssertionFailureError 300); ${path.join(pages, 'failures.jsonl')} lists what failed`,
    );
    expect(stub.most()).toBeLessThanOrEqual(16);
    expect((await readdir(pages)).length).toBe(701);
    const failures = (await readFile(path.join(pages, 'failures.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(new Set(failures.map((line) => JSON.parse(line).source))).toEqual(new Set(urls(1_000).filter(isBad)));

    const before = stub.requestedUrls.length;
    const again = await runHere(line, at(stub));
    expect(again.code).toBe(3);
    expect(again.error).toContain('0 read, 700 skipped (file exists), 300 failed');
    expect(stub.requestedUrls.length - before).toBe(300);
    await stub.close();
  });

  it('are printed in order, as text and as lines of JSON', async () => {
    const stub = await startStub((url) => (url.endsWith('/1') ? { status: 422 } : {}));
    const input = urls(3).join('\r\n');
    const json = await runProgram(['read', '--list', '-', '--json'], { ...at(stub), input });
    expect(json.code).toBe(3);
    const lines = json.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { source: 'https://a.test/0', page: { title: 'Title of https://a.test/0' } },
      { source: 'https://a.test/1', error: { status: 422, name: 'AssertionFailureError' } },
      { source: 'https://a.test/2', page: {} },
    ]);
    const text = await runProgram(['read', ...urls(3)], at(stub));
    expect(text.out).toBe(
      'Title: Title of https://a.test/0\n\nText of https://a.test/0\n\n---\n\nTitle: Title of https://a.test/2\n\nText of https://a.test/2\n',
    );
    expect(text.error).toContain('lectern: https://a.test/1: AssertionFailureError: no');
    await stub.close();
  });

  it('end at once with an invalid key or an unreachable server', async () => {
    const stub = await startStub(() => ({ status: 401 }));
    const refused = await runProgram(['read', ...urls(50), '--concurrency', '1'], at(stub));
    expect(refused.code).toBe(4);
    expect(stub.requestedUrls.length).toBe(1);
    await stub.close();
    const away = await runProgram(['read', ...urls(50)], at(stub));
    expect(away.code).toBe(5);
    expect(away.error.trimEnd().split('\n').length).toBeLessThan(10);
    expect(away.error).toContain(`No response from ${stub.url}`);
  });

  it('are stopped by Ctrl-C and continue with the same command', async () => {
    const stub = await startStub((url) => (url.endsWith('/5') ? { hangs: true } : {}));
    const pages = path.join(dir, 'stopped');
    const child = startProgram(['read', ...urls(6), '--out-dir', pages, '--concurrency', '1'], at(stub));
    const over = waitForExit(child);
    while (!stub.requestedUrls.includes('https://a.test/5')) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    const { code, error } = await over;
    expect({ code, error }).toEqual({
      code: 130,
      error: 'lectern: stopped: 5 read; run the same command again to continue\n',
    });
    expect((await readdir(pages)).filter((name) => !name.endsWith('.md'))).toEqual([]);
    expect(await readdir(pages)).toHaveLength(5);
    await stub.close();
  });

  it('are read once if a list contains one twice', async () => {
    const stub = await startStub();
    const pages = path.join(dir, 'twice');
    const input = 'https://a.test/1\nhttps://a.test/1\nhttps://a.test/2\nhttps://a.test/1\n';
    const read = await runProgram(['read', '--list', '-', '--out-dir', pages], { ...at(stub), input });
    expect(read).toEqual({ out: '', error: '2 read, 2 skipped (file exists)\n', code: 0 });
    expect(stub.requestedUrls.sort()).toEqual(['https://a.test/1', 'https://a.test/2']);
    await stub.close();
  });
});

describe('an input without an end', { timeout: LONG_MS }, () => {
  it('is processed line by line until Ctrl-C', async () => {
    const stub = await startStub();
    const child = startProgram(['read', '--list', '-', '--json'], at(stub));
    const over = once(child, 'close');
    child.stdin.write('https://a.test/1\n');
    const [line] = await once(child.stdout, 'data');
    expect(JSON.parse(line)).toMatchObject({ source: 'https://a.test/1' });
    child.kill('SIGINT');
    expect((await over)[0]).toBe(130);
    await stub.close();
  });

  it.each([
    ['a page', ['read', '-']],
    ['a list', ['read', '--list', '-']],
    ['texts', ['embed', '--model', 'any']],
    ['documents', ['rerank', 'query']],
  ])('is ended by Ctrl-C: %s', async (_, args) => {
    const stub = await startStub();
    const child = startProgram(args, at(stub));
    const over = waitForExit(child);
    // The program is reading its input, because it has consumed more than fits into the pipe buffer.
    await new Promise<void>((resolve) => child.stdin.write('#'.repeat(1_000_000), () => resolve()));
    child.kill('SIGINT');
    expect((await over).code).toBe(130);
    await stub.close();
  });

  it('is not awaited when the key is refused', async () => {
    const stub = await startStub(() => ({ status: 401 }));
    const child = startProgram(['read', '--list', '-'], at(stub));
    const over = waitForExit(child);
    child.stdin.write('https://a.test/1\n');
    expect((await over).code).toBe(4);
    await stub.close();
  });
});

describe('as a program', { timeout: LONG_MS }, () => {
  it('exits quietly when its output is closed', async () => {
    const stub = await startStub((url) => ({ title: url.repeat(5_000) }));
    const child = startProgram(['read', ...Array.from({ length: 40 }, (_, one) => `https://a.test/${one}`)], at(stub));
    const { stderr } = child;
    let error = '';
    stderr.on('data', (piece) => {
      error += piece;
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    await stub.close();
  });

  it('warns about a server of another version only', async () => {
    const other = await startStub(undefined, '3.4.5');
    const warned = await runProgram(['read', 'https://a.test/'], at(other));
    expect(warned.code).toBe(0);
    expect(warned.error).toMatch(
      /^lectern: warning: .* runs version 3\.4\.5, this program is \d+\.\d+\.\d+: options may differ\n$/,
    );
    await other.close();
    const same = await startStub();
    expect((await runProgram(['read', 'https://a.test/'], at(same))).error).toBe('');
    await same.close();
  });

  it.each([
    ['no command', ['raed'], /unknown command 'raed'\n\(Did you mean read\?\)/],
    ['no option', ['read', 'x', '--with-link'], /unknown option '--with-link'/],
    ['nothing to read', ['read'], /nothing to read/],
    ['no file', ['read', './nothing.pdf'], /no such file/],
    ['no number', ['read', 'x', '--concurrency', 'many'], /whole number/],
    ['no choice', ['read', 'x', '--preset', 'none'], /Allowed choices are reader/],
    ['no field', ['read', 'x', '--viewport', 'depth=3'], /viewport has no field depth/],
    ['no server', ['read', 'x', '--server', 'localhost'], /must start with http/],
    ['a picture that nobody could fetch', ['read', 'x', '-f', 'markdown+pageshot', '--json'], /a URL on a server/],
    ['two outputs', ['read', 'x', 'y', '-o', 'z'], /--out-dir/],
  ])('tells of %s, with the code of a wrong line', async (_, args, said) => {
    const { out, error, code } = await runProgram(args);
    expect({ out, code }).toEqual({ out: '', code: 2 });
    expect(error).toMatch(said);
    expect(error).not.toMatch(/^\s+at /m);
  });
});

describe('with a server', { timeout: LONG_MS }, () => {
  let server: TestServer;
  let environment: Record<string, string>;
  beforeAll(async () => {
    server = await startServer({ browser: 'none' });
    const { reader, search, model } = server.urls;
    environment = {
      LECTERN_URL: `${reader},search=${search},models=${model}`,
      LECTERN_API_KEY: server.app.firstKey!,
    };
  }, LONG_MS);
  afterAll(() => server.close());

  const run = (args: readonly string[], input?: string) => runHere(args, { env: environment, ...(input && { input }) });

  it('passes options unchanged', async () => {
    const html =
      '<h1>Hello</h1><p>A <a href="https://example.com/x">link</a> <a href="https://example.com/x">again</a>.</p>';
    const markdown = await run(['read', '-', '--markdown', 'headingStyle=setext', '--retain-links', 'none'], html);
    expect(markdown.out).toContain('Hello\n=====');
    expect(markdown.out).not.toContain('example.com/x');
    const summary = await run(['read', '-', '--with-links-summary=all', '--json'], html);
    expect(JSON.parse(summary.out).links).toEqual([
      ['link', 'https://example.com/x'],
      ['again', 'https://example.com/x'],
    ]);
    const wrong = await run(['read', '-', '--max-tokens', '3'], html);
    expect(wrong).toMatchObject({ out: '', code: 2, error: expect.stringContaining('maxTokens must be at least 500') });
  });

  it('streams lines of JSON', async () => {
    const { out, code } = await run(['read', '-', '--stream'], '<h1>Hello</h1>');
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ source: '-', page: { content: expect.stringContaining('Hello') } });
  });

  it('embeds and reranks texts from arguments and the standard input', async () => {
    const { out, code } = await run(['embed', 'one', '-'], 'two\n{"text": "three"}\n"four"\n');
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ index, text }) => [index, text])).toEqual([
      [0, 'one'],
      [1, 'two'],
      [2, 'three'],
      [3, 'four'],
    ]);
    const csv = await run(['embed', 'one', '--format', 'csv', '--dimensions', '64']);
    expect(csv.out.trim().split(',').map(Number)).toHaveLength(64);
    const base64 = await run(['embed', 'one', '--format', 'base64', '--dimensions', '64']);
    expect(Buffer.from(base64.out.trim(), 'base64').length).toBe(256);
    expect(JSON.parse((await run(['embed', 'one', 'two', '--json'])).out)).toHaveLength(2);
    const ranked = await run(['rerank', 'hot drink', 'a bicycle', 'green tea is drunk hot', '--json', '--top', '1']);
    expect(JSON.parse(ranked.out)).toMatchObject([{ index: 1, text: 'green tea is drunk hot' }]);
    expect((await run(['embed', 'x', '--model', 'nothing'])).code).toBe(1);
  });

  it('reports an unknown key', async () => {
    const { code, error } = await run(['embed', 'one', '--key', 'lectern_wrong']);
    expect(code).toBe(4);
    expect(error.trimEnd().split('\n')).toHaveLength(1);
  });
});
