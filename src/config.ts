/**
 * Every setting of the server, one row each: environment variable, flag and file key come from the row's name.
 * `dataDir` is LECTERN_DATA_DIR, --data-dir and `dataDir:` in the file. Flags win over the environment, the environment
 * over the file, the file over the default.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Scalar } from 'yaml';
import * as z from 'zod';
import { FEATURES, plansShape } from '#plans.ts';

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
const isNetwork = (text: string) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
/** A whole number, or `none`. */
const limitOrNone = z.union([z.int().min(0), z.literal('none')], { error: 'must be a whole number, or `none`' });
const words = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : value.split(',')).map((word) => word.trim()).filter(Boolean))
  .default([]);

const PRICE_NAMES = ['prompt', 'completion', 'image', 'request', 'input_cache_read', 'input_cache_write'] as const;
const decimal = z.string().regex(/^\d+(?:\.\d+)?$/, 'must be a decimal number as text');

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
  flow: setting(
    z.string().optional(),
    'Read, Index and Search',
    'A YAML file of the flow that the flow gateway serves; its ports are those above.',
  ),
  flowToken: secret(
    setting(
      z.string().min(16, 'must have at least 16 characters').optional(),
      'none',
      'What callers of the flow gateway must send as Authorization: Bearer; without it other machines are served only with `auth` off.',
    ),
  ),
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

  diskMinFreeBytes: setting(
    count(67_108_864, 0),
    '67108864',
    'The free space of the data folder and the folder for temporary files below which `/ready` says that the disk is full, in bytes.',
  ),
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
  ocrPrompt: setting(
    z.string().max(10_000).optional(),
    'one that suits the model',
    'What that model is asked of a page when the caller of chat completions asks nothing else.',
  ),
  ocrModelDir: setting(
    z.string().optional(),
    'none',
    'A folder with ONNX files of PP-OCR, which then reads in place of Tesseract: one named `*det*.onnx`, one named `*rec*.onnx`, and the dictionary, `*.txt`.',
  ),
  speechUrl: setting(
    z.url().optional(),
    'none',
    'The base address of an OpenAI-compatible server that writes down what is said in a clip; without one no transcripts are embedded.',
  ),
  speechModel: setting(z.string().optional(), 'whisper-1', 'The speech model there.'),
  speechKey: secret(setting(z.string().optional(), 'none', 'The key for it.')),
  ffmpeg: setting(
    z.string().min(1).optional(),
    'ffmpeg',
    'The program that opens sound and video; without it neither is embedded.',
  ),
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

  models: secret(
    setting(
      json(z.array(z.record(z.string(), z.unknown()))).default([]),
      'none',
      'Further models of the model host, a row each: in a folder, in a repository of the hub, or on a server elsewhere; in the environment as JSON.',
    ),
  ),
  modelAliases: setting(
    json(z.record(z.string().min(1), z.string().min(1))).default({}),
    'none',
    'Further names of models, `{name: id}`: a client that asks for `jina-embeddings-v3` is then served by the model of that id.',
  ),
  modelsWarm: setting(
    words.prefault(['lectern-static-v1', 'lectern-static-rerank-v1']),
    'the built-in models',
    'Ids of models, parted by commas, that are in memory before the model host says that it is ready.',
  ),
  modelMemoryBytes: setting(
    count(4_000_000_000),
    '4000000000',
    'What models may take in memory together, in bytes; the one not used for longest makes room.',
  ),
  modelDownload: setting(
    z.enum(['on', 'off']).default('on'),
    'on',
    '`off` serves only models that are on this machine; `on` lists those of the hub too, and gets one when it is first asked for.',
  ),
  modelHubUrl: setting(
    z.url().default('https://huggingface.co'),
    'https://huggingface.co',
    'Where models are fetched from: the hub, or what answers like it.',
  ),
  modelHubToken: secret(
    setting(z.string().optional(), 'none', 'The token for models that the hub gives only to those who asked.'),
  ),
  modelPrecision: setting(
    z.enum(['full', 'quantized']).default('full'),
    'full',
    '`quantized` takes the 8-bit graphs of models that have one: a quarter of the size, a little off, and run one text at a time.',
  ),
  modelThreads: setting(
    z.coerce.number().int().min(1).optional(),
    'as many as there are processors',
    'Threads of one run of a model on this machine.',
  ),
  modelPrices: setting(
    json(z.record(z.string(), z.partialRecord(z.enum(PRICE_NAMES), decimal))).default({}),
    'nothing',
    'Prices in the list of models, per unit, as decimal texts: `{"multilingual-e5-small": {"prompt": "0.00000005"}}`.',
  ),
  modelDeadlineMs: setting(
    count(60_000, 100),
    '60000',
    'How long a request to the model host may take, loading and waiting included, in ms.',
  ),
  modelMaxBodyBytes: setting(
    count(67_108_864),
    '67108864',
    'The largest body of a request to the model host, in bytes.',
  ),

  batchJobs: setting(
    count(2, 0),
    '2',
    'How many batch jobs this process works on at once; 0 leaves them to `lectern worker`.',
  ),

  crawlJobs: setting(
    count(8, 0),
    '8',
    'How many crawls this process works on at once; 0 leaves them to other servers of the same database.',
  ),
  crawlPages: setting(count(4), '4', 'How many pages this process reads at once for all its crawls.'),
  crawlHostPages: setting(count(4), '4', 'How many pages of one host a crawl may ask to be read at once.'),
  crawlDelayMs: setting(
    count(500, 0),
    '500',
    'The pause of a crawl between two reads of a host where its caller names none, in ms.',
  ),
  crawlMaxPages: setting(count(10_000), '10000', 'The most pages that one crawl may read.'),
  crawlKeepDays: setting(count(7), '7', 'How long a crawl and its pages are kept from its beginning on, in days.'),

  cfUrl: setting(
    z.url().default('https://api.cloudflare.com/client/v4'),
    'that of Cloudflare',
    'The address of the remote rendering service for engine `cf-browser-rendering`.',
  ),
  cfAccount: setting(z.string().optional(), 'none', 'The account there.'),
  cfToken: secret(setting(z.string().optional(), 'none', 'The API token for it.')),

  searchEmbedder: setting(
    z.string().default('lectern-static-v1'),
    'lectern-static-v1',
    'The model by which the index of pages is searched by meaning; `none` searches words alone.',
  ),
  searchReranker: setting(
    z.string().default('none'),
    'none',
    'The model that puts what was found into its last order; `none` leaves it as it was fused.',
  ),
  searchProviders: secret(
    setting(
      json(
        z
          .union([
            z.string().transform((text) =>
              text
                .split(',')
                .map((name) => name.trim())
                .filter(Boolean),
            ),
            z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
          ])
          .default([]),
      ),
      'none: the pages that this server has read are searched',
      'Search services in the order of asking: names parted by commas, or a list of `{name, key, url, budgetPerDay, …}`, in the environment as JSON.',
    ),
  ),
  searchProvidersAtOnce: setting(
    count(1),
    '1',
    'How many search services are asked at once and their results joined; the others are asked when one of them fails.',
  ),
  searchKeyless: setting(
    z.enum(['refused', 'limited']).default('refused'),
    'refused',
    '`limited` lets callers without a key search, as many times a minute as they may read.',
  ),
  indexMaxBytes: setting(
    count(5_000_000_000, 0),
    '5000000000',
    'What the index of pages that were read may take on disk, about, in bytes; those read longest ago make room, 0 keeps none.',
  ),

  indexShared: setting(
    z.enum(['all', 'public', 'none']).default('public'),
    'public',
    'What accounts find of each other in the index of pages: `public` shares pages whose URL is no secret, and others are found by the account that read them; `none` shares nothing that was read; `all` shares everything.',
  ),

  pageMaxRequests: setting(count(3_300), '3300', 'Requests that one page may make before it is stopped as abuse.'),
  pageMaxDocuments: setting(count(1_000), '1000', 'Documents that one page may load.'),
  pageMaxDomains: setting(count(200), '200', 'Registrable domains that one page may ask.'),
  pageMaxParallel: setting(count(100), '100', 'Requests of one page at a time.'),
  pageMaxBytes: setting(
    count(134_217_728),
    '134217728',
    'The most that one page may load and send in the browser, in bytes on the network; the rest is not loaded.',
  ),
  pageMemoryMb: setting(
    count(512, 128),
    '512',
    'The memory that one page may take in the browser, in MB; a page over it is ended. Linux only.',
  ),
  hostRefusalS: setting(
    count(3_600, 0),
    '3600',
    'How long callers without a key cannot read a page that was stopped as abuse, in s; after several such pages the same holds for their folder and their host. 0 refuses none.',
  ),
  maxDepth: setting(count(256), '256', 'How deep elements may stand before a page is answered as its text.'),
  maxElements: setting(count(80_000), '80000', 'How many elements a page may have before it is answered as its text.'),
  maxElementsKeyless: setting(count(10_000), '10000', 'The same for callers without a key.'),
  chargeModelFactor: setting(count(3), '3', 'How many times its tokens an answer written by a model is charged.'),
  chargeProxyFactor: setting(count(5), '5', 'How many times its tokens an answer through `proxy` is charged.'),
  flowIndexMaxBytes: setting(
    count(5_000_000_000),
    '5000000000',
    'What the documents that flows keep for searching may take on disk, in bytes for each collection; the oldest make room.',
  ),
  maxBodyBytes: setting(count(102_000_000), '102000000', 'The largest JSON or form body, in bytes.'),
  userAgent: setting(z.string().optional(), 'that of the browser', 'The user agent of reads that name none.'),
  auth: setting(
    z.enum(['on', 'off']).default('on'),
    'on',
    '`off` serves everybody without keys and without limits: for a private network.',
  ),
  keylessRpm: setting(
    json(limitOrNone).default(20),
    '20',
    'Reads a minute of one address without a key; `none` for no limit, 0 for none at all.',
  ),
  keylessFeatures: setting(
    words.pipe(z.array(z.enum(FEATURES, { error: `must be of ${FEATURES.join(', ')}` }))).prefault(['scripts']),
    'scripts',
    `Features that callers without a key may use, parted by commas: ${FEATURES.join(', ')}.`,
  ),
  refusedRpm: setting(
    count(60),
    '60',
    'Requests a minute of one address that come with a wrong key, or with none where one is needed, before they are answered 429.',
  ),
  keyGraceS: setting(
    count(0, 0),
    '0',
    'How long a key goes on working that was verified just before the database went away, in s; 0 for not at all.',
  ),
  plans: setting(
    json(plansShape).default({}),
    'the table of plans',
    'What differs from the table of plans, by plan and endpoint: `{free: {reader: {requestsPerMinute: 50}}}`, in the environment as JSON.',
  ),
  adminSecret: secret(
    setting(
      z.string().min(16, 'must have at least 16 characters').optional(),
      'none',
      'The secret of the admin API; without one there is no admin API.',
    ),
  ),
  adminHost: setting(z.string().default('localhost'), 'localhost', 'The address that the admin API listens on.'),
  adminPort: setting(port(3005), '3005', 'The port of the admin API.'),
  metricsPort: setting(
    z.coerce.number().int().min(0).max(65535).optional(),
    'none',
    'A port of its own for `/metrics`, for which no secret is needed; the admin API has them behind its secret.',
  ),
  metricsHost: setting(
    z.string().default('127.0.0.1'),
    '127.0.0.1',
    'The address that the port of metrics listens on.',
  ),
  otlpUrl: setting(
    z.url().optional(),
    'none',
    'A collector of OpenTelemetry that traces of all requests are sent to over OTLP/HTTP, such as http://localhost:4318.',
  ),
  otlpHeaders: secret(
    setting(
      json(z.record(z.string(), z.string())).default({}),
      'none',
      'Headers that it wants to be sent: `{"authorization": "…"}`, in the environment as JSON.',
    ),
  ),
  otlpSampleRatio: setting(
    z.coerce.number().min(0).max(1).default(1),
    '1',
    'Which part of the requests is sent whose callers have not decided that themselves by `traceparent`.',
  ),
  otlpService: setting(z.string().default('lectern'), 'lectern', 'The name of this server there.'),
  trustedProxies: setting(
    words.refine((list) => list.every(isNetwork), 'must be addresses or networks in CIDR form'),
    'none',
    'Addresses or networks of proxies in front of this server, parted by commas: what they say of the caller in X-Forwarded-For is believed.',
  ),
  databaseUrl: secret(
    setting(
      z
        .string()
        .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres://')
        .optional(),
      'SQLite in the data folder',
      'PostgreSQL for keys, accounts and usage, shared by any number of servers: postgres://user:password@host/name.',
    ),
  ),
  redisUrl: secret(
    setting(
      z
        .string()
        .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
        .optional(),
      'none',
      'Redis or Valkey, shared by any number of servers: limits are counted in it, and turns of jobs go through it.',
    ),
  ),
  limitStore: setting(
    z.enum(['memory', 'database', 'redis']).optional(),
    'redis with a redisUrl, database with a databaseUrl, else memory',
    'Where limits are counted: in the memory of this process, or where other processes count too.',
  ),
  usageKeepDays: setting(
    count(90),
    '90',
    'How long each request is kept in the record of usage, in days; the sums by day stay.',
  ),
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

/** Variables of ours that are no settings of a server. */
export const OTHER_VARIABLES = ['LECTERN_CONFIG', 'LECTERN_BENCH_DATA', 'LECTERN_URL', 'LECTERN_API_KEY'] as const;

/** Variables that look like settings and are none: a slip of the pen, or of another program. */
export const strangeVariables = (environment: Readonly<Record<string, string | undefined>>): string[] => {
  const known = new Set<string>([...SETTING_NAMES.map(environmentName), ...OTHER_VARIABLES]);
  return Object.keys(environment).filter((name) => name.startsWith('LECTERN_') && !known.has(name));
};

interface Given {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}

/**
 * The settings in force. The file is the one of `--config` or LECTERN_CONFIG, else `lectern.yaml` when there is one.
 * Throws ConfigError with one line a problem, each naming where the value came from: in the file with its line.
 */
export function readConfig({ environment = {}, flags = {} }: Given = {}): Config {
  const file = readFile((flags.config as string | undefined) ?? environment.LECTERN_CONFIG);
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const places: [(path: readonly PropertyKey[]) => string, unknown][] = [
      [(path) => dotted([flagName(name), ...path]), flags[name]],
      [(path) => dotted([environmentName(name), ...path]), environment[environmentName(name)] || undefined],
      [(path) => file.placeOf([name, ...path]), file.values[name]],
    ];
    const [place, value] = places.find(([, given]) => given !== undefined) ?? [() => '', undefined];
    if (value === null) {
      // A number would become 0 of it, and a port any port.
      faults.push(`${place([])}: has no value`);
      continue;
    }
    const result = SETTINGS[name].schema.safeParse(value);
    if (result.success) config[name] = result.data;
    else for (const issue of result.error.issues) faults.push(...faultsOf(issue, place));
  }
  const unknown = Object.keys(file.values).filter((name) => !Object.hasOwn(SETTINGS, name));
  for (const name of unknown) faults.push(`${file.placeOf([name])}: there is no such setting`);
  if (faults.length) throw new ConfigError(faults.join('\n'));
  return Object.freeze(config) as Config;
}

function faultsOf(issue: z.core.$ZodIssue, place: (path: readonly PropertyKey[]) => string): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${place([...issue.path, key])}: there is no such setting`);
  }
  return [`${place(issue.path)}: ${issue.message || 'not valid'}`];
}

const dotted = (path: readonly PropertyKey[]) => path.map(String).join('.');

interface SettingsFile {
  readonly values: Readonly<Record<string, unknown>>;
  /** `plans.free in lectern.yaml, line 3`, for a value or for the nearest one around it. */
  placeOf(path: readonly PropertyKey[]): string;
}

function readFile(given: string | undefined): SettingsFile {
  const file = given ?? 'lectern.yaml';
  if (!given && !existsSync(file)) return { values: {}, placeOf: dotted };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError(`the configuration file ${file} cannot be read`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  if (error) throw new ConfigError(`${file}: ${error.message}`);
  const values: unknown = document.toJS() ?? {};
  if (typeof values !== 'object' || Array.isArray(values)) throw new ConfigError(`${file}: must be a list of settings`);
  return {
    values: values as Record<string, unknown>,
    placeOf(path) {
      const offset = offsetOf(document.contents, path);
      const line = offset === undefined ? '' : `, line ${lines.linePos(offset).line}`;
      return `${dotted(path)} in ${file}${line}`;
    },
  };
}

/** Where the deepest key on the way of a path begins, in characters from the start of the file. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number | undefined {
  let node = contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair) return offset;
      offset = (pair.key as Scalar).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && isNode(node.items[Number(step)])) {
      node = node.items[Number(step)];
      offset = (node as { range?: [number, number, number] }).range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
