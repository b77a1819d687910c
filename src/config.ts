/**
 * Every setting of the server, one row each: environment variable, flag and file key come from the row's name.
 * `dataDir` is LECTERN_DATA_DIR, --data-dir and `dataDir:` in the file. Flags win over the environment, the environment
 * over the file, the file over the default.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

interface Setting {
  readonly schema: z.ZodType;
  readonly meaning: string;
  /** How help words the default. */
  readonly defaultText: string;
  readonly secret?: boolean;
}

const setting = <Schema extends z.ZodType>(schema: Schema, defaultText: string, meaning: string) => ({
  schema,
  defaultText,
  meaning,
});

const secret = <Row extends Setting>(row: Row) => ({ ...row, secret: true as const });
/** A list or an object, as the file has it, or as the environment carries it: JSON. */
const json = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  }, schema);
const proxyShape = z.strictObject({
  url: z.url(),
  /** Two-letter codes in lower case. */
  countries: z.array(z.string().regex(/^[a-z]{2}$/)).default([]),
  eu: z.boolean().default(false),
});
const port = (standard: number) => z.coerce.number().int().min(0).max(65535).default(standard);
const count = (standard: number, min = 1) => z.coerce.number().int().min(min).default(standard);
const words = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : value.split(',')).map((word) => word.trim()).filter(Boolean))
  .default([]);

export const SETTINGS = {
  dataDir: setting(
    z
      .string()
      .default('.lectern')
      .transform((dir) => path.resolve(dir)),
    '.lectern',
    'The folder in which everything kept lies: keys, the browser, temporary files.',
  ),
  host: setting(
    z.string().default('localhost'),
    'localhost',
    'The address to listen on. The default is reached from this machine only; 0.0.0.0 is reached from everywhere.',
  ),
  readerPort: setting(port(3000), '3000', 'The port of the reader.'),
  searchPort: setting(port(3001), '3001', 'The port of the search host.'),
  modelPort: setting(port(3002), '3002', 'The port of the model host.'),
  flowPort: setting(port(3003), '3003', 'The port of the flow gateway for HTTP and WebSocket.'),
  flowGrpcPort: setting(port(3004), '3004', 'The port of the flow gateway for gRPC.'),
  port: setting(
    z.coerce.number().int().min(0).max(65535).optional(),
    'none',
    'One more port that serves every face by host name: r. the reader, s. search, api. the models, flow. the gateway; the reader for any other name.',
  ),
  allowNetworks: setting(
    words,
    'none',
    'Networks, addresses, hosts or host:port pairs, parted by commas, that may be read although they are not public.',
  ),
  browser: setting(z.string().optional(), 'found', 'The Chromium or Chrome to use; `none` serves without a browser.'),
  browserPages: setting(count(6), '6', 'How many pages the browser may have open at once.'),
  browserQueue: setting(count(100, 0), '100', 'How many reads may wait for a browser page.'),
  workers: setting(
    z.coerce.number().int().min(1).optional(),
    'one less than the processors, two at least',
    'Threads for the work that is heavy on the processor.',
  ),
  workerMemoryMb: setting(count(1024, 64), '1024', 'The memory one of those threads may take, in MB.'),
  renderTimeoutMs: setting(
    count(20_000, 100),
    '20000',
    'The longest that one page may be worked on after it was fetched, in ms.',
  ),
  documentWorkers: setting(
    z.coerce.number().int().min(1).optional(),
    'one less than the processors, two at least',
    'Processes that read files.',
  ),
  documentMemoryMb: setting(count(2048, 256), '2048', 'The memory one of those processes may take, in MB.'),
  documentTimeoutMs: setting(count(60_000, 100), '60000', 'The longest that one file may be worked on, in ms.'),
  maxFileBytes: setting(count(1_073_741_824), '1073741824', 'The largest file that is read, in bytes.'),
  libreoffice: setting(
    z.string().optional(),
    'found',
    'The LibreOffice program for the old Office formats; `none` leaves it out.',
  ),
  tesseract: setting(
    z.string().optional(),
    'found',
    'The Tesseract program for text recognition; without one, or with `tesseract.js`, the built-in recognition is used, `none` turns both off.',
  ),
  ocrLanguages: setting(words, 'eng', 'The languages of text recognition, by their Tesseract names.'),
  ocrMaxPages: setting(count(20, 0), '20', 'How many scanned pages of a document are recognised in one read.'),

  cacheMaxBytes: setting(
    count(5_000_000_000, 0),
    '5000000000',
    'What kept copies of pages may take on disk, in bytes; 0 keeps none.',
  ),
  cacheFreshS: setting(count(3_600, 0), '3600', 'How long a copy answers for its page, in s.'),
  cacheKeepS: setting(count(604_800, 0), '604800', 'How long a copy is kept for when its page cannot be read, in s.'),
  cacheNoStore: setting(
    z.enum(['honour', 'ignore']).default('honour'),
    'honour',
    '`ignore` keeps copies of pages that forbid it too (`Cache-Control: no-store` or `private`).',
  ),

  proxies: secret(
    setting(
      json(z.array(proxyShape)).default([]),
      'none',
      'Proxies for the option `proxy`: a list of `{url, countries, eu}`, in the environment as JSON.',
    ),
  ),
  region: setting(
    z.enum(['any', 'eu']).default('any'),
    'any',
    '`eu` lets only model servers, rendering services and proxies work that are marked as inside the EU.',
  ),
  euHosts: setting(
    words,
    'none',
    'Hosts, or host:port pairs, parted by commas, of services and proxies that are inside the EU.',
  ),

  chatUrl: setting(
    z.url().optional(),
    'none',
    'The base address of an OpenAI-compatible server for language and vision models: `http://localhost:11434/v1`.',
  ),
  chatModel: setting(z.string().optional(), 'none', 'The language model there.'),
  chatKey: secret(setting(z.string().optional(), 'none', 'The key for it.')),
  visionUrl: setting(z.url().optional(), 'that of chat', 'The server of the vision model.'),
  visionModel: setting(z.string().optional(), 'that of chat', 'The model that looks at pictures and pages.'),
  visionKey: secret(setting(z.string().optional(), 'that of chat', 'The key for it.')),
  readerlmUrl: setting(z.url().optional(), 'that of chat', 'The server of the model that rewrites HTML.'),
  readerlmModel: setting(z.string().optional(), 'that of chat', 'The model for `readerlm-v2` and `jsonSchema`.'),
  readerlmKey: secret(setting(z.string().optional(), 'that of chat', 'The key for it.')),
  ocrUrl: setting(z.url().optional(), 'none', 'The server of the text recognition model; Tesseract without one.'),
  ocrModel: setting(z.string().optional(), 'none', 'The text recognition model there.'),
  ocrKey: secret(setting(z.string().optional(), 'none', 'The key for it.')),
  readerlmTokens: setting(
    count(60_000, 100),
    '60000',
    'How much of a page that model is given, in tokens; less than its context.',
  ),
  visionTokens: setting(
    count(16_000, 100),
    '16000',
    'How much of a page the vision model is given beside its picture, in tokens.',
  ),
  modelTimeoutMs: setting(count(120_000, 100), '120000', 'The longest that a model may take to answer, in ms.'),

  cfUrl: setting(
    z.url().default('https://api.cloudflare.com/client/v4'),
    'that of Cloudflare',
    'The address of the remote rendering service for engine `cf-browser-rendering`.',
  ),
  cfAccount: setting(z.string().optional(), 'none', 'The account there.'),
  cfToken: secret(setting(z.string().optional(), 'none', 'The API token for it.')),

  pageMaxRequests: setting(count(3_300), '3300', 'Requests that one page may make before it is stopped as abuse.'),
  pageMaxDocuments: setting(count(1_000), '1000', 'Documents that one page may load.'),
  pageMaxDomains: setting(count(200), '200', 'Registrable domains that one page may ask.'),
  pageMaxParallel: setting(count(100), '100', 'Requests of one page at a time.'),
  hostRefusalS: setting(
    count(3_600, 0),
    '3600',
    'How long callers without a key cannot read a host whose page was stopped as abuse, in s.',
  ),
  maxDepth: setting(count(256), '256', 'How deep elements may stand before a page is answered as its text.'),
  maxElements: setting(count(80_000), '80000', 'How many elements a page may have before it is answered as its text.'),
  maxElementsKeyless: setting(count(10_000), '10000', 'The same for callers without a key.'),
  chargeModelFactor: setting(count(3), '3', 'How many times its tokens an answer written by a model is charged.'),
  chargeProxyFactor: setting(count(5), '5', 'How many times its tokens an answer through `proxy` is charged.'),
  maxBodyBytes: setting(count(102_000_000), '102000000', 'The largest JSON or form body, in bytes.'),
  userAgent: setting(z.string().optional(), 'that of the browser', 'The user agent of reads that name none.'),
  publicUrl: setting(
    z.url().optional(),
    'the address asked',
    'The address under which callers reach the reader, for links in its answers.',
  ),
  logLevel: setting(
    z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    'info',
    'How much is logged.',
  ),
  drainMs: setting(count(20_000, 0), '20000', 'How long reads in flight may go on after SIGTERM, in ms.'),
} satisfies Record<string, Setting>;

export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['schema']> }>;
export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
export const environmentName = (name: string): string => `LECTERN_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
export const flagName = (name: string): string => `--${kebab(name)}`;
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export class ConfigError extends Error {}

/** Variables that look like settings and are none: a slip of the pen, or of another program. */
export const strangeVariables = (environment: Readonly<Record<string, string | undefined>>): string[] => {
  const known = new Set([...SETTING_NAMES.map(environmentName), 'LECTERN_CONFIG', 'LECTERN_BENCH_DATA']);
  return Object.keys(environment).filter((name) => name.startsWith('LECTERN_') && !known.has(name));
};

interface Given {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}

/**
 * The settings in force. The file is the one of `--config` or LECTERN_CONFIG, else `lectern.yaml` when there is one.
 * Throws ConfigError with one line a problem, each naming where the value came from.
 */
export function readConfig({ environment = {}, flags = {} }: Given = {}): Config {
  const file = readFile((flags.config as string | undefined) ?? environment.LECTERN_CONFIG);
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const places: [string, unknown][] = [
      [flagName(name), flags[name]],
      [environmentName(name), environment[environmentName(name)] || undefined],
      [`${name} in ${file.path}`, file.values[name]],
    ];
    const [place, value] = places.find(([, given]) => given !== undefined) ?? ['', undefined];
    const result = SETTINGS[name].schema.safeParse(value);
    if (result.success) config[name] = result.data;
    else faults.push(`${place}: ${result.error.issues[0]?.message ?? 'not valid'}`);
  }
  const unknown = Object.keys(file.values).filter((name) => !Object.hasOwn(SETTINGS, name));
  for (const name of unknown) faults.push(`${name} in ${file.path}: there is no such setting`);
  if (faults.length) throw new ConfigError(faults.join('\n'));
  return Object.freeze(config) as Config;
}

function readFile(given: string | undefined): { path: string; values: Record<string, unknown> } {
  const file = given ?? 'lectern.yaml';
  if (!given && !existsSync(file)) return { path: file, values: {} };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError(`the configuration file ${file} cannot be read`);
  }
  let values: unknown;
  try {
    values = parseYaml(text) ?? {};
  } catch (error) {
    throw new ConfigError(`${file}: ${(error as Error).message}`);
  }
  if (typeof values !== 'object' || Array.isArray(values)) throw new ConfigError(`${file}: must be a list of settings`);
  return { path: file, values: values as Record<string, unknown> };
}
