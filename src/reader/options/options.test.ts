import { describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { gather } from '#http/gather.ts';
import { OPTIONS, type OptionName, type OptionRow } from './options.ts';

it('accepts an upload of 100 MB without checking each byte', () => {
  const file = new Uint8Array(100_000_000);
  expect(gather(OPTIONS, { headers: {}, query: undefined, body: { file } }).file).toBe(file);
});

/** How an option handles unsuitable values (docs/reference/wire/reader.md, Validation). */
interface InvalidValues {
  /** Refused in a body; lists of strings are refused in a query too. */
  readonly values: readonly unknown[];
  /** Refused in a body, a query and a header. */
  readonly texts?: readonly string[];
  /** Strings that a rule accepts, with their value. */
  readonly accepted?: Readonly<Record<string, unknown>>;
  /** Strings that have a different rule in headers, with their value; undefined: the header is ignored. */
  readonly header?: Readonly<Record<string, unknown>>;
}

const NO_TEXT = [true, 2, {}, [], ['a', 'b'], [{}]];
const NO_OBJECT = [true, 2, [], ['a', 'b'], '2', '[]', 'null'];

/** Any string is valid, or is validated only when it is used. */
const text: InvalidValues = { values: NO_TEXT, accepted: { maybe: 'maybe', 2: '2' } };
/** Every string is interpreted as true or false. */
const SWITCH_VALUES = { maybe: true, 2: true, '{}': true, ' None ': false, '': false };
const switchValue: InvalidValues = { values: [2, -1, 1.5, {}, [], ['true', 'false'], [true]], accepted: SWITCH_VALUES };
const word: InvalidValues = { values: NO_TEXT, texts: ['maybe', '2', ''] };
/** Unknown words are ignored in headers. */
const wordOrIgnored: InvalidValues = { ...word, header: { maybe: undefined, 2: undefined, '': undefined } };
/** Headers that do not start with a number are ignored; fractions are dropped. */
const count = (tooSmall: number, header: InvalidValues['header'] = {}): InvalidValues => ({
  values: [true, {}, [], [700], tooSmall, 700.5],
  texts: ['maybe', '', '0x2bc', '7e', 'Infinity', String(tooSmall)],
  header: { maybe: undefined, '': undefined, Infinity: undefined, ...header },
});
const list: InvalidValues = { values: [true, 2, {}, [2], [{}], [null]], accepted: { '': [] } };
const selectors: InvalidValues = { ...list, texts: ['{}', 'a[', ':nonsense(b)'], accepted: { '': [] } };
const upload: InvalidValues = {
  values: [true, 2, {}, [], ['a', 'b'], { data: 2 }, { path: '/etc/passwd' }, { data: 'YQ==', path: '/etc/passwd' }],
};
const url: InvalidValues = { values: NO_TEXT, texts: ['', 'ftp://a.example/', 'javascript:alert(1)'] };

const INVALID_VALUES: Readonly<Record<OptionName, InvalidValues>> = {
  url: text,
  html: text,
  file: upload,
  pdf: upload,
  respondWith: { values: NO_TEXT, texts: ['maybe', '2', 'content+vlm'], accepted: { '': '' } },
  preset: wordOrIgnored,
  engine: text,
  base: word,
  respondTiming: word,
  timeout: {
    values: [true, {}, [], -1, 0, 181],
    texts: ['maybe', '', '0', '-1', '181', '0x10'],
    // Section 3.3: the value is clamped, or means that the caller set no timeout and does not want shortcuts.
    header: { maybe: 'none', '': 'none', 0: 'none', '0x10': 'none', '-1': 'none', 181: 180, '1.5': 1 },
  },
  scroll: {
    values: [true, {}, [], 0, 101, 1.5],
    texts: ['maybe', '', '0', '101', '1.5', '0x10'],
  },
  targetSelector: { ...selectors, texts: [...selectors.texts!, '*', ':root', 'p, *'] },
  waitForSelector: selectors,
  removeSelector: selectors,
  comments: wordOrIgnored,
  withIframe: switchValue,
  withShadowDom: switchValue,
  removeOverlay: switchValue,
  detachInvisibles: switchValue,
  injectPageScript: list,
  injectFrameScript: list,
  viewport: { values: [...NO_OBJECT, { width: 'wide' }, { width: 0 }, { height: 9_999 }, { isMobile: 'maybe' }] },
  preloadUrl: url,
  noServiceWorker: switchValue,
  retainLinks: wordOrIgnored,
  retainImages: wordOrIgnored,
  retainMedia: wordOrIgnored,
  withLinksSummary: switchValue,
  withImagesSummary: switchValue,
  withGeneratedAlt: switchValue,
  keepImgDataUrl: switchValue,
  markdown: { values: [...NO_OBJECT, { headingStyle: 'maybe' }, { hr: '' }, { linkStyle: 2 }] },
  noGfm: switchValue,
  markdownChunking: { values: [2, -1, {}, [], ['h1', 'h2']], accepted: { maybe: 'maybe', 2: '2', no: '' } },
  pageMarkers: switchValue,
  maxTokens: count(499, { '0x2bc': Problem, '7e': Problem, '700.5': 700 }),
  tokenBudget: count(-1, { '0x2bc': 0, '7e': 7, '700.5': 700 }),
  trace: switchValue,
  explain: switchValue,
  locale: { values: NO_TEXT, texts: ['', '2', 'not a language'] },
  referer: url,
  userAgent: { values: NO_TEXT, texts: ['', 'a\u0001b'] },
  setCookies: list,
  customHeader: { values: [...NO_OBJECT, { a: 1 }, { a: ['b'] }] },
  skipCertVerification: switchValue,
  proxyUrl: text,
  proxy: { values: NO_TEXT, texts: ['maybe', '2', 'd'], accepted: { '': '' } },
  proxyResources: switchValue,
  robotsTxt: text,
  assertStatusCode: count(99, { '0x2bc': Problem, '7e': Problem, '200.5': 200 }),
  assertNotBlocked: switchValue,
  noCache: switchValue,
  cacheTolerance: count(-1, { '0x2bc': 0, '7e': 7, '700.5': 700 }),
  doNotTrack: switchValue,
  zeroDataRetention: switchValue,
  exportStorageState: switchValue,
  storageState: { values: NO_OBJECT },
  page: count(0, { '0x2bc': Problem, '7e': 7, '700.5': 700 }),
  pdfRunningText: wordOrIgnored,
  filePassword: { ...text, texts: ['x'.repeat(257)] },
  annotations: wordOrIgnored,
  instruction: text,
  jsonSchema: { values: NO_OBJECT },
};

type Sources = Parameters<typeof gather>[1];

/** The parsed value of the option, undefined if it was ignored, or the problem that was thrown. */
function outcome(name: OptionName, sources: Sources): unknown {
  try {
    return gather(OPTIONS, sources)[name];
  } catch (error) {
    return error;
  }
}

function expectRefusal(name: OptionName, found: unknown, given: unknown): void {
  const label = `${name} = ${JSON.stringify(given)}`;
  expect(found, label).toBeInstanceOf(Problem);
  const { name: kind, code, facts, message } = found as Problem;
  expect({ kind, code }, label).toEqual({ kind: 'ParamValidationError', code: 400 });
  expect(String(facts.path).split('.')[0], label).toBe(name);
  expect(message, label).toMatch(new RegExp(`^${name}[\\w.]* (?:must|is|cannot|has) `));
}

const expectAccepted = (name: OptionName, found: unknown, given: string, value: unknown): void =>
  value === Problem
    ? expectRefusal(name, found, given)
    : expect(found, `${name} = ${JSON.stringify(given)}`).toEqual(value);

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

describe.each(Object.entries(INVALID_VALUES) as [OptionName, InvalidValues][])(
  'an unsuitable value of %s',
  (name, invalid) => {
    const row: OptionRow = OPTIONS[name];
    const { values, texts = [], accepted = {}, header = {} } = invalid;

    it('in a body is refused with its name, or accepted by a rule', () => {
      for (const given of [...values, ...texts]) {
        expectRefusal(name, outcome(name, { headers: {}, body: { [name]: given } }), given);
      }
      for (const [given, value] of Object.entries(accepted)) {
        expectAccepted(name, outcome(name, { headers: {}, body: { [name]: given } }), given, value);
      }
      expect(outcome(name, { headers: {}, body: { [name]: null } })).toBeUndefined();
    });

    it('in a query is refused with its name, or accepted by a rule', () => {
      for (const given of [...values.filter((value) => typeof value === 'string' || isTexts(value)), ...texts]) {
        expectRefusal(name, outcome(name, { headers: {}, query: { [name]: given } }), given);
      }
      for (const [given, value] of Object.entries(accepted)) {
        expectAccepted(name, outcome(name, { headers: {}, query: { [name]: given } }), given, value);
      }
    });

    // Options without a header, or with several headers for one value, have no single header to test.
    if (row.headers.length > 0 && !row.headerFields)
      it('in a header is refused with its name, or accepted by a rule', () => {
        const inHeader = (given: string) => outcome(name, { headers: { [row.headers[0]!]: given } });
        for (const given of texts) if (!Object.hasOwn(header, given)) expectRefusal(name, inHeader(given), given);
        for (const [given, value] of Object.entries({ ...accepted, ...header })) {
          expectAccepted(name, inHeader(given), given, value);
        }
      });
  },
);

it('refuses X-Md headers with the name of their field', () => {
  for (const header of OPTIONS.markdown.headers) {
    const given = header === 'x-md-hr' ? '-'.repeat(129) : 'maybe';
    const found = outcome('markdown', { headers: { [header]: given } });
    expectRefusal('markdown', found, given);
    expect((found as Problem).facts.path).toMatch(/^markdown\.\w+$/);
  }
});
