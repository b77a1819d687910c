/** Runs the code that the playground shows. It must get the same response as the playground. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A4, drawnPage, drawText, RIVERS } from '#ocr/drawn-pages.suite.ts';
import { shellWord } from '../playground/src/snippets.ts';
import { launchBrowser, openWatchedPage } from './support/browser-page.ts';
import { startServer, type TestServer } from './support/server.ts';
import { findProgram } from './support/start-services.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const LONG = 180_000;
const run = promisify(execFile);
/** Characters that a shell or a program could misread. */
const ODD = `It's "odd" \`here\` $HOME \\n %s – ünïcode 😀 {{file}} </p>`;
const HTML = `<main><h1>${ODD.replaceAll('<', '&lt;')}</h1><p class="keep">Kept, since it is 'chosen' by a "selector".</p>\n<p>Not</p></main>`;

let browser: Browser;
let server: TestServer;
let key: string;
let dir: string;
beforeAll(async () => {
  server = await startServer({ browser: 'none' });
  key = server.app.firstKey!;
  browser = await launchBrowser();
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-snippets-'));
  await writeFile(path.join(dir, 'package.json'), '{"type":"module"}');
}, LONG);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(dir, { recursive: true, force: true });
});

const python = findProgram('python3');
const LANGUAGES = ['curl', 'TypeScript', 'lectern/client', 'Python'] as const;
type Language = (typeof LANGUAGES)[number];

/** Runs a snippet and returns its output. */
async function printed(language: Language, code: string): Promise<string> {
  const env = { ...process.env, LECTERN_API_KEY: key };
  const options = { cwd: dir, env, maxBuffer: 50_000_000 };
  if (language === 'curl') return (await run('bash', ['-c', code], options)).stdout;
  if (language === 'Python') {
    await writeFile(
      path.join(dir, 'snippet.py'),
      code.replace('print(json.load(answer))', 'print(json.dumps(json.load(answer)))'),
    );
    return (await run(python!, ['snippet.py'], options)).stdout;
  }
  // Printed as JSON, so that the whole result can be compared. Only files in this package can import the client by its
  // name.
  const program = code
    .replace(/console\.log\((.*)\);$/s, 'console.log(JSON.stringify($1));')
    .replace("'lectern/client'", JSON.stringify(path.join(ROOT, 'src/client/index.ts')));
  await build({
    stdin: { contents: program, loader: 'ts', resolveDir: dir, sourcefile: 'snippet.ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    outfile: path.join(dir, 'snippet.mjs'),
  });
  return (await run(process.execPath, ['snippet.mjs'], options)).stdout;
}

/** The response to the request that `fill` enters, and the code for it by language. */
async function asked(tab: string, fill: (page: Page) => Promise<unknown>) {
  const { page, complaints } = await openWatchedPage(browser);
  page.setDefaultTimeout(LONG);
  await page.goto(`${server.reader}/playground`);
  await page.getByRole('tab', { name: tab, exact: true }).click();
  await page.getByLabel('API key').fill(key);
  await fill(page);
  const reply = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.keyboard.press('Control+Enter');
  await page.locator('.status .state', { hasText: 'Done' }).waitFor();
  const answer = await (await reply).text();
  await page.getByRole('tab', { name: 'Code', exact: true }).click();
  const code: Partial<Record<Language, string>> = {};
  for (const language of LANGUAGES) {
    const choice = page.getByRole('radio', { name: language, exact: true });
    if ((await choice.count()) === 0) continue;
    await choice.check();
    code[language] = await page.locator('pre[data-language]').innerText();
  }
  await page.context().close();
  expect(complaints).toEqual([]);
  return { answer, code };
}

const option = async (page: Page, name: string) => {
  await page.getByRole('searchbox', { name: 'Search options by name or meaning' }).fill(name);
  return page.getByLabel(name, { exact: true });
};
const textbox = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

/** Removes the fields that differ between calls. */
function lasting(text: string): unknown {
  const answer = JSON.parse(text);
  delete answer.id;
  delete answer.created;
  return answer;
}

describe('a read of pasted HTML with options in headers and in the body', () => {
  let told: Awaited<ReturnType<typeof asked>>;
  beforeAll(async () => {
    told = await asked('Read', async (page) => {
      await page.getByRole('radio', { name: 'HTML' }).check();
      await textbox(page, 'HTML').fill(HTML);
      await textbox(page, 'Base URL').fill("https://pots.test/it's");
      await (await option(page, 'markdown.headingStyle')).selectOption('setext');
      await (await option(page, 'removeSelector')).fill('p:not(.keep)\n[title="it\'s"]');
      await (await option(page, 'customHeader')).fill('{"X-A": "it\'s \\"quoted\\""}');
      await (await option(page, 'withLinksSummary')).selectOption('true');
    });
  }, LONG);

  it('has all fields of the form', () => {
    const { data } = JSON.parse(told.answer);
    expect(data.content).toContain('chosen');
    expect(data.content).not.toContain('Not');
    expect(told.code.curl).toContain("-H 'X-Md-Heading-Style: setext'");
    expect(told.code.curl).not.toContain(key);
  });

  it.each(LANGUAGES)('%s', { timeout: LONG }, async (language) => {
    if (language === 'Python' && !python) return;
    const output = await printed(language, told.code[language]!);
    if (language === 'lectern/client') {
      const { page } = JSON.parse(output);
      expect(page).toEqual(JSON.parse(told.answer).data);
    } else expect(lasting(output)).toEqual(lasting(told.answer));
  });
});

describe('a read of a file, as text', () => {
  let told: Awaited<ReturnType<typeof asked>>;
  const name = `a "file" it's.html`;
  beforeAll(async () => {
    await writeFile(path.join(dir, name), HTML);
    told = await asked('Read', async (page) => {
      await page.getByRole('radio', { name: 'File' }).check();
      await page.getByRole('radio', { name: 'Text' }).check();
      const file = { name, mimeType: 'text/html', buffer: Buffer.from(HTML) };
      await page.getByLabel('File: PDF').setInputFiles(file);
      await (await option(page, 'removeSelector')).fill('h1\n[title="it\'s"]');
    });
  }, LONG);

  it.each(['curl', 'TypeScript', 'Python'] as const)('%s', { timeout: LONG }, async (language) => {
    if (language === 'Python' && !python) return;
    const output = await printed(language, told.code[language]!);
    expect(told.answer).toContain('chosen');
    expect(told.answer).not.toContain('odd');
    if (language === 'Python') expect(output).toBe(`${told.answer}\n`);
    else expect(language === 'curl' ? output : JSON.parse(output)).toBe(told.answer);
  });
});

describe('a read as a stream', () => {
  let told: Awaited<ReturnType<typeof asked>>;
  beforeAll(async () => {
    told = await asked('Read', async (page) => {
      await page.getByRole('radio', { name: 'HTML' }).check();
      await page.getByRole('radio', { name: 'Stream' }).check();
      await textbox(page, 'HTML').fill(HTML);
    });
  }, LONG);

  it.each(['curl', 'TypeScript'] as const)('%s', { timeout: LONG }, async (language) => {
    expect(told.answer).toContain('event: data');
    expect(await printed(language, told.code[language]!)).toBe(told.answer);
  });
});

/** Clicks a button of “Copy as” and returns what it copied. */
async function copied(page: Page, language: (typeof COPIED)[number]): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: `Copy as ${language}` }).click();
  // The button has another name now, and an earlier one may still say the same.
  await page.locator('.copy-as button').nth(COPIED.indexOf(language)).getByText('Copied').waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

/** Fills in a tab, and copies its code with the buttons next to the form. */
async function copiedFrom(tab: string, fill: (page: Page) => Promise<unknown>) {
  const { page, complaints } = await openWatchedPage(browser);
  await page.goto(`${server.reader}/playground`);
  await page.getByRole('tab', { name: tab, exact: true }).click();
  await page.getByLabel('API key').fill(key);
  await fill(page);
  const code: Partial<Record<Language, string>> = {};
  for (const language of COPIED) code[language] = await copied(page, language);
  await page.context().close();
  expect(complaints).toEqual([]);
  return code;
}

const COPIED = ['curl', 'TypeScript', 'Python'] as const;

describe('code that is copied with the buttons', () => {
  const ran = async (code: Partial<Record<Language, string>>) => {
    const outputs = COPIED.filter((language) => language !== 'Python' || python).map((language) =>
      printed(language, code[language]!).then((text) => (text.startsWith('"') ? String(JSON.parse(text)) : text)),
    );
    return Promise.all(outputs);
  };

  it('embeds a batch and prints its output', { timeout: LONG }, async () => {
    const code = await copiedFrom('Batch', async (page) => {
      await textbox(page, 'Texts, one per line').fill(`${ODD}\nAnother`);
      await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
      await (await option(page, 'dimensions')).fill('64');
    });
    for (const output of await ran(code)) {
      const lines = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ custom_id }) => custom_id)).toEqual(['line-1', 'line-2']);
      expect(lines[0].response.body.data[0].embedding).toHaveLength(64);
    }
  });

  it('sends documents through the flow', { timeout: LONG }, async () => {
    const code = await copiedFrom('Flow', async (page) => {
      await textbox(page, 'Documents: texts or URLs, one per line').fill(ODD);
      await (await option(page, 'parameters')).fill('{"limit": 3}');
    });
    for (const output of await ran(code)) {
      expect(JSON.parse(output)).toMatchObject({ data: [{ text: ODD }], parameters: { limit: 3 } });
    }
  });

  it('crawls', { timeout: LONG }, async () => {
    const code = await copiedFrom('Crawl', async (page) => {
      await textbox(page, 'Start URLs, one per line').fill('http://10.0.0.1/');
    });
    expect(code.curl).toContain(`${server.reader}/crawl`);
    // The server may not read private networks: each program gets that answer.
    for (const language of COPIED) {
      if (language === 'Python' && !python) continue;
      const output = await printed(language, code[language]!).catch(
        (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
      );
      expect(output, language).toMatch(/SecurityCompromiseError|HTTP Error 451/);
    }
  });
});

describe('a search of the index', () => {
  let told: Awaited<ReturnType<typeof searchFailure>>;
  beforeAll(async () => {
    const nothing = await fetch(`${server.reader}/`, { method: 'POST', body: new URLSearchParams({ html: HTML }) });
    expect(nothing.status).toBe(200);
    told = await searchFailure();
  }, LONG);

  it.each(['curl', 'TypeScript', 'lectern/client'] as const)('%s', { timeout: LONG }, async (language) => {
    const failure = await printed(language, told[language]!).catch((error: { stdout: string; stderr: string }) =>
      error.stdout ? error.stdout : error.stderr,
    );
    // Submitted HTML is not indexed: the code fails for the same reason as the page.
    expect(failure).toContain('AssertionFailureError');
  });

  async function searchFailure() {
    const { page } = await openWatchedPage(browser);
    await page.goto(
      `${server.reader}/playground#tab=search&in.q=${encodeURIComponent(ODD)}&opt.num=3&opt.site=pots.test`,
    );
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Control+Enter');
    await page.locator('.failure').getByText('AssertionFailureError').waitFor();
    await page.getByRole('tab', { name: 'Code', exact: true }).click();
    const code: Partial<Record<Language, string>> = {};
    for (const language of ['curl', 'TypeScript', 'lectern/client'] as const) {
      await page.getByRole('radio', { name: language, exact: true }).check();
      code[language] = await page.locator('pre[data-language]').innerText();
    }
    await page.context().close();
    return code;
  }
});

describe('the models', () => {
  it('embed', { timeout: LONG }, async () => {
    const { answer, code } = await asked('Embed', async (page) => {
      await textbox(page, 'Texts, one per line').fill(`${ODD}\nAnother`);
      await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
      await (await option(page, 'dimensions')).fill('256');
    });
    for (const language of ['curl', 'TypeScript', 'lectern/client'] as const) {
      expect(lasting(await printed(language, code[language]!))).toEqual(lasting(answer));
    }
  });

  it('recognize a picture', { timeout: LONG }, async () => {
    const buffer = drawnPage({ ...A4, height: 300 }, (context) => {
      drawText(context, RIVERS.slice(0, 60), { left: 120, top: 120, width: 900, size: 34 });
    });
    const name = "it's a page.png";
    await writeFile(path.join(dir, name), buffer);
    const { answer, code } = await asked('Recognize', async (page) => {
      await page.getByLabel('Image or PDF').setInputFiles({ name, mimeType: 'image/png', buffer });
      await textbox(page, 'Instruction, for models that accept one').fill(ODD);
      await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
    });
    expect(JSON.parse(answer).choices[0].message.content).toContain('Rivers');
    for (const language of ['curl', 'TypeScript'] as const) {
      expect(lasting(await printed(language, code[language]!))).toEqual(lasting(answer));
    }
  });
});

it('quotes any text for a shell', { timeout: LONG }, async () => {
  const texts = fc.sample(
    fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !text.includes('\0')),
    { numRuns: 200, seed: 7 },
  );
  const { stdout } = await run('bash', ['-c', `printf '%s\\0' ${texts.map(shellWord).join(' ')}`]);
  expect(stdout.split('\0').slice(0, -1)).toEqual(texts);
});
