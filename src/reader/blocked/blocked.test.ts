/** The rules on our own pages (`test/fixtures/blocked/`), and the form of the tables. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { BLOCKED_KINDS } from './blocked.ts';
import { examinePage } from './examine.ts';
import { examineText } from './examine-text.ts';
import { hasMuchSource } from './much-source.ts';
import { PHRASE_RULES } from './phrases.ts';
import { responseMarksOf } from './response-marks.ts';
import { STATUS_RULES } from './statuses.ts';
import { STRUCTURE_RULES } from './structure.ts';
import { VENDOR_RULES } from './vendors/vendors.ts';

interface Labelled {
  readonly id: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly expected: { readonly kind: string | null; readonly vendor: string | null };
}

const FOLDER = new URL('../../../test/fixtures/blocked/', import.meta.url);
const PAGES = readFileSync(new URL('pages.jsonl', FOLDER), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Labelled);

const htmlOf = (id: string) => readFileSync(new URL(`html/${id}.html`, FOLDER), 'utf8');

function examine(html: string, { status = 200, headers = {} }: Partial<Pick<Labelled, 'status' | 'headers'>> = {}) {
  const answer = { url: 'https://pots.example/', status, response: responseMarksOf(headers) };
  const isText = headers['content-type'] === 'application/json';
  return isText ? examineText(html, answer) : examinePage(parseDocument(html), answer);
}

describe('our own pages', () => {
  it('are of all kinds', () => {
    expect(new Set(PAGES.map(({ expected }) => expected.kind))).toEqual(new Set([...BLOCKED_KINDS, null]));
    expect(PAGES.length).toBeGreaterThanOrEqual(60);
  });

  it.each(PAGES.filter(({ expected }) => expected.kind))('$id is $expected.kind by $expected.vendor', (page) => {
    const { kind, vendor } = page.expected;
    expect(examine(htmlOf(page.id), page)).toEqual({ kind, by: vendor });
  });

  it.each(PAGES.filter(({ expected }) => !expected.kind))('$id is content', (page) => {
    expect(examine(htmlOf(page.id), page)).toBeUndefined();
  });

  it('are not too long to be examined', () => {
    const skipped = PAGES.filter(({ id }) => hasMuchSource(htmlOf(id))).map(({ expected }) => expected.kind);
    expect(skipped.filter(Boolean)).toEqual([]);
  });
});

const SENTENCES = 'The kiln was lit on Monday, and the jugs were set on the third shelf. ';

describe('the same words in an article', () => {
  it.each([
    ['a phrase', '<title>Access denied</title><h1>Access denied</h1><p>Page not found. Too many requests.</p>'],
    ['a challenge', '<title>Just a moment...</title><h1>Just a moment...</h1><p>Checking your browser.</p>'],
    ['a login', '<title>Log in</title><h1>Log in</h1><form><input><input type="password"></form>'],
    ['a mark', '<title>Pots</title><script>window._cf_chl_opt={}</script><div id="px-captcha"></div>'],
  ])('are content: %s', (_, html) => {
    expect(examine(html)).toBeDefined();
    expect(examine(`${html}<p>${SENTENCES.repeat(40)}</p>`)).toBeUndefined();
  });

  it('are content with an error status too', () => {
    expect(examine('<title>Ash</title><p>Gone.</p>', { status: 404 })).toEqual({ kind: 'not-found', by: 'generic' });
    expect(examine(`<title>Ash</title><p>${SENTENCES.repeat(40)}</p>`, { status: 404 })).toBeUndefined();
  });
});

describe('the tables', () => {
  const rules = [...VENDOR_RULES, ...PHRASE_RULES, ...STRUCTURE_RULES, ...STATUS_RULES];

  it('name a source for each rule', () => {
    for (const { source } of rules) expect(new URL(source).protocol).toBe('https:');
  });

  it('have a kind for each rule of a vendor, and a fact that it tests', () => {
    for (const rule of VENDOR_RULES) {
      const { header, cookie, mark, title, says, status, kind, otherwise } = rule;
      expect(header ?? cookie ?? mark ?? title ?? says ?? status).toBeDefined();
      if (kind === 'by phrases') expect(otherwise).toBeDefined();
    }
  });
});

describe('the names of cookies', () => {
  it.each([
    ['a=1; Path=/', ['a']],
    ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2', ['a', 'b']],
    ['a=1\n_fs_ch_st_x=AU; Path=/', ['a', '_fs_ch_st_x']],
  ])('%j', (setCookie, names) => expect(responseMarksOf({ 'set-cookie': setCookie })?.cookies).toEqual(names));
});
