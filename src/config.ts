/**
 * All settings of the server, one row each, grouped by subject. The name of a row determines the environment variable,
 * the flag and the key in the file: `dataDir` is LECTERN_DATA_DIR, --data-dir and `dataDir:`. Flags override the
 * environment, the environment overrides the file, and the file overrides the defaults.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Scalar } from 'yaml';
import * as z from 'zod';
import { nearestName } from '#nearest-name.ts';
import { ownValue } from '#own-value.ts';
import { FEATURES, plansShape } from '#plans.ts';
import { LOG_FORMATS } from '#telemetry/log-text.ts';

interface Setting {
  readonly schema: z.ZodType;
  readonly meaning: string;
  /** The default, as shown in the help and the documentation. */
  readonly defaultText: string;
  readonly secret?: boolean;
}

/** Subjects of the settings, in the order of the help and the documentation. */
export const SETTING_GROUPS = [
  'Server and ports',
  'Network access',
  'Browser',
  'Documents and OCR',
  'Page cache and page limits',
  'Language and vision models',
  'Embeddings and local models',
  'Search',
  'Crawling and batch jobs',
  'Workers',
  'Flow gateway',
  'Accounts and limits',
  'Database and storage',
  'Logging and metrics',
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

const setting = <Schema extends z.ZodType>(schema: Schema, defaultText: string, meaning: string) => ({
  schema,
  defaultText,
  meaning,
});

type Grouped<Rows> = { readonly [Name in keyof Rows]: Rows[Name] & { readonly group: SettingGroup } };

const inGroup = <Rows extends Readonly<Record<string, Setting>>>(group: SettingGroup, rows: Rows) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, group }])) as Grouped<Rows>;

const secret = <Row extends Setting>(row: Row) => ({ ...row, secret: true as const });
/** A list or an object: plain YAML in the file, and JSON text in the environment. */
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
  /** ISO 3166-1 alpha-2 codes in lower case. */
  countries: z.array(z.string().regex(/^[a-z]{2}$/)).default([]),
  eu: z.boolean().default(false),
});
const port = (standard: number) => z.coerce.number().int().min(0).max(65535).default(standard);
const count = (standard: number, min = 1) => z.coerce.number().int().min(min).default(standard);
const isNetwork = (text: string) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
const limitOrNone = z.union([z.int().min(0), z.literal('none')], { error: 'must be a whole number, or `none`' });
const commaList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : value.split(',')).map((word) => word.trim()).filter(Boolean))
  .default([]);

/** Kinds of jobs that `lectern worker` can run. */
const JOB_KINDS = ['batch', 'crawl'] as const;
/** Kinds of requests that servers can send to workers. */
export const REMOTE_KINDS = ['documents', 'ocr', 'embed'] as const;
export type RemoteKind = (typeof REMOTE_KINDS)[number];
const WORK_KINDS = [...JOB_KINDS, ...REMOTE_KINDS] as const;

/** Dialects whose clients often cannot send a key. */
const KEYLESS_DIALECTS = ['searxng', 'ollama', 'tika', 'docling', 'unstructured'] as const;

/** Names separated by commas, or a list of names and objects. */
const providerList = json(
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
);

const PRICE_NAMES = ['prompt', 'completion', 'image', 'request', 'input_cache_read', 'input_cache_write'] as const;
const decimal = z.string().regex(/^\d+(?:\.\d+)?$/, 'must be a decimal number, as a string');

export const SETTINGS = {
  ...inGroup('Server and ports', {
    host: setting(
      z.string().default('localhost'),
      'localhost',
      'IP address or host name to listen on. `localhost` accepts connections from this machine only, `0.0.0.0` from everywhere.',
    ),
    readerPort: setting(port(3000), '3000', 'Port of the reader.'),
    searchPort: setting(port(3001), '3001', 'Port of the search host.'),
    euReaderPort: setting(
      z.coerce.number().int().min(0).max(65535).optional(),
      'none',
      'Additional port of the reader, for requests that use only services inside the EU. Requests to a host name that begins with `eu-r.` are treated the same way on every port of the reader.',
    ),
    euSearchPort: setting(
      z.coerce.number().int().min(0).max(65535).optional(),
      'none',
      'Additional port of the search host, for requests that use only services inside the EU. Requests to a host name that begins with `eu-s.` are treated the same way on every port of the search host.',
    ),
    modelPort: setting(port(3002), '3002', 'Port of the model host.'),
    compatPort: setting(port(3006), '3006', 'Port of the compat API, which answers clients of other products.'),
    compatKeyless: setting(
      commaList.pipe(z.array(z.enum(KEYLESS_DIALECTS))),
      'none',
      `Dialects of the compat API that admit callers without a key if they are on this machine or in a private network, because their clients cannot send one: ${KEYLESS_DIALECTS.map((name) => `\`${name}\``).join(', ')}. Such callers have 600 requests per minute and IP address.`,
    ),
    flowPort: setting(port(3003), '3003', 'Port of the flow gateway for HTTP and WebSocket.'),
    flowGrpcPort: setting(port(3004), '3004', 'Port of the flow gateway for gRPC.'),
    port: setting(
      z.coerce.number().int().min(0).max(65535).optional(),
      'none',
      'Additional port that serves all APIs, chosen by host name: `r.` reader, `s.` search, `eu-r.` and `eu-s.` reader and search inside the EU, `api.` models, `flow.` flow gateway, `compat.` clients of other products. Any other host name selects the reader.',
    ),
    adminHost: setting(
      z.string().default('localhost'),
      'localhost',
      'IP address or host name that the admin API listens on.',
    ),
    adminPort: setting(port(3005), '3005', 'Port of the admin API.'),
    metricsHost: setting(
      z.string().default('127.0.0.1'),
      '127.0.0.1',
      'IP address or host name that the metrics port listens on.',
    ),
    metricsPort: setting(
      z.coerce.number().int().min(0).max(65535).optional(),
      'none',
      'Additional port for `/metrics`, without authentication. The admin API serves the same metrics to callers with its secret. `lectern worker` serves `/live` and `/ready` on this port too.',
    ),
    publicUrl: setting(
      z.url().optional(),
      'the URL of the request',
      'Public base URL of the reader, for links in its responses.',
    ),
    maxBodyBytes: setting(
      count(102_000_000),
      '102000000',
      'Maximum size of a JSON or form request body, in bytes. Larger bodies get 413.',
    ),
    workers: setting(
      z.coerce.number().int().min(1).optional(),
      'processors minus one, at least 2',
      'Number of worker threads for CPU-heavy work such as rendering pages to Markdown.',
    ),
    workerMemoryMb: setting(count(1024, 64), '1024', 'Memory limit of one worker thread, in MB; at least 64.'),
    drainDelayMs: setting(
      count(0, 0),
      '0',
      'Time after SIGTERM in which requests are still accepted while `/ready` returns 503, in ms. Set it to more than the interval at which a load balancer checks `/ready`.',
    ),
    drainMs: setting(count(20_000, 0), '20000', 'Time that running requests have to finish after SIGTERM, in ms.'),
  }),

  ...inGroup('Network access', {
    allowNetworks: setting(
      commaList,
      'none',
      'Non-public targets that may be read: networks, IP addresses, hosts or host:port pairs, separated by commas (`10.0.0.0/8,wiki.internal`).',
    ),
    blockedUrlsFile: setting(
      z.string().min(1).optional(),
      'none',
      'Text file with hosts and URL patterns that are never read, one on each line. It is read again when it changes.',
    ),
    userAgent: setting(
      z.string().optional(),
      'that of the browser',
      'Default `User-Agent` of outgoing requests. The `userAgent` option of a request overrides it.',
    ),
    proxies: secret(
      setting(
        json(z.array(proxyShape)).default([]),
        'none',
        'Proxies for the `proxy` option: a list of `{url, countries, eu}`, as JSON in the environment. `countries` contains two-letter codes in lower case.',
      ),
    ),
    region: setting(
      z.enum(['any', 'eu']).default('any'),
      'any',
      'With `eu`, only model servers, rendering services and proxies marked as inside the EU are used.',
    ),
    euHosts: setting(
      commaList,
      'none',
      'Hosts or host:port pairs of services and proxies inside the EU, separated by commas.',
    ),
    trustedProxies: setting(
      commaList.refine((list) => list.every(isNetwork), 'must be IP addresses or networks in CIDR form'),
      'none',
      'Reverse proxies whose `X-Forwarded-For` header is trusted for the client IP: IP addresses or networks in CIDR form, separated by commas.',
    ),
    hostRefusalS: setting(
      count(3_600, 0),
      '3600',
      'How long a page that was stopped as abuse is blocked for callers without a key, in s. Several such pages block their folder, then their host. 0 turns this off.',
    ),
  }),

  ...inGroup('Browser', {
    browser: setting(
      z.string().optional(),
      'auto-detected',
      'Path of the Chromium or Chrome executable. `none` runs without a browser.',
    ),
    browserUrl: secret(
      setting(
        commaList,
        'none',
        'Browsers on other machines, which are used instead of a local one: URLs of Chromium with an open DevTools port or of `lectern browser-worker` (`http://host:3007`, `ws://host/devtools/…`), or of Playwright servers (other `ws://` URLs), separated by commas. Requires `LECTERN_EGRESS_PROXY_HOST`.',
      ),
    ),
    browserToken: secret(
      setting(
        z.string().min(16).optional(),
        'none',
        'Bearer token for the browsers of `LECTERN_BROWSER_URL`. `lectern browser-worker` requires it; at least 16 characters.',
      ),
    ),
    egressProxyHost: setting(
      z.string().min(1).optional(),
      'none',
      'IP address or host name on which the egress proxy listens for the browsers of `LECTERN_BROWSER_URL`. Each read has credentials of its own, which are invalid after the read.',
    ),
    egressProxyPort: setting(port(3008), '3008', 'Port of the egress proxy for browsers on other machines.'),
    egressProxyUrl: setting(
      z.url({ protocol: /^http$/ }).optional(),
      'the host and port that it listens on',
      'URL under which the browsers of `LECTERN_BROWSER_URL` reach the egress proxy of this server (`http://10.0.0.5:3008`). Each server needs its own; a load balancer must not be in between.',
    ),
    browserWorkerHost: setting(
      z.string().default('localhost'),
      'localhost',
      'IP address or host name that `lectern browser-worker` listens on.',
    ),
    browserWorkerPort: setting(port(3007), '3007', 'Port of `lectern browser-worker`.'),
    browserWorkerProxies: setting(
      commaList,
      'any host',
      'Hosts of the egress proxies that the browsers of `lectern browser-worker` may connect to: host names or IP addresses, separated by commas; `*` is a wildcard. The browser neither resolves other names nor connects to other IP addresses.',
    ),
    browserBlockFile: setting(
      z.string().min(1).optional(),
      'none',
      'Text file with hosts whose resources the browser does not load, such as those of ads and trackers: a hosts file, a list of domains, or a filter list, of which the rules for whole hosts are used. It is read again when it changes.',
    ),
    browserPages: setting(
      count(6),
      '6',
      'Maximum number of pages open at once in the browser, or in each browser of `LECTERN_BROWSER_URL`.',
    ),
    browserQueue: setting(
      count(100, 0),
      '100',
      'Maximum number of requests that wait for a browser page. Further requests get 503.',
    ),
    pageMaxRequests: setting(
      count(3_300),
      '3300',
      'Maximum number of requests by one page. A page that exceeds it is stopped as abuse.',
    ),
    pageMaxDocuments: setting(count(1_000), '1000', 'Maximum number of documents that one page may load.'),
    pageMaxDomains: setting(count(200), '200', 'Maximum number of registrable domains that one page may contact.'),
    pageMaxParallel: setting(count(100), '100', 'Maximum number of simultaneous requests by one page.'),
    pageMaxBytes: setting(
      count(134_217_728),
      '134217728',
      'Maximum network traffic of one page in the browser, received and sent, in bytes. Anything beyond it is not loaded.',
    ),
    pageMemoryMb: setting(
      count(512, 128),
      '512',
      'Memory limit of one page in the browser, in MB; at least 128. A page that exceeds it is closed. Linux only.',
    ),
    cfUrl: setting(
      z.url().default('https://api.cloudflare.com/client/v4'),
      'Cloudflare',
      'Base URL of the remote rendering service for the `cf-browser-rendering` engine.',
    ),
    cfAccount: setting(z.string().optional(), 'none', 'Account ID at the remote rendering service.'),
    cfToken: secret(setting(z.string().optional(), 'none', 'API token for the remote rendering service.')),
  }),

  ...inGroup('Documents and OCR', {
    maxFileBytes: setting(
      count(1_073_741_824),
      '1073741824',
      'Maximum size of a file that is read, in bytes. Larger files get 413.',
    ),
    documentWorkers: setting(
      z.coerce.number().int().min(1).optional(),
      'processors minus one, at least 2',
      'Number of processes that parse files.',
    ),
    documentMemoryMb: setting(
      count(2048, 256),
      '2048',
      'Memory limit of one process that parses files, in MB; at least 256.',
    ),
    documentTimeoutMs: setting(count(60_000, 100), '60000', 'Time limit for parsing one file, in ms; at least 100.'),
    libreoffice: setting(
      z.string().optional(),
      'auto-detected',
      'Path of LibreOffice, which converts old Office formats. `none` disables them.',
    ),
    tesseract: setting(
      z.string().optional(),
      'auto-detected',
      'Path of Tesseract, used for text recognition. `tesseract.js` selects the built-in recognition, which is also used if Tesseract is not installed. `none` disables both.',
    ),
    ocrLanguages: setting(
      commaList,
      'found by script',
      'Languages for text recognition: their Tesseract names, separated by commas (`eng,deu`). By default they follow from the script of each page.',
    ),
    ocrMaxPages: setting(
      count(20, 0),
      '20',
      'Maximum number of scanned pages of a document that are recognized in one request. 0 recognizes none.',
    ),
    ocrModelDir: setting(
      z.string().optional(),
      'none',
      'Folder with a PP-OCR model in ONNX format, used instead of the recognizers that come along. It must contain one `*det*.onnx`, one `*rec*.onnx` and the dictionary `*.txt`.',
    ),
    ocrUrl: setting(
      z.url().optional(),
      'none',
      'Base URL of an OpenAI-compatible server for text recognition. Without it, recognition runs on this machine.',
    ),
    ocrModel: setting(z.string().optional(), 'none', 'Name of the model on the text recognition server.'),
    ocrKey: secret(setting(z.string().optional(), 'none', 'API key for the text recognition server.')),
    ocrPrompt: setting(
      z.string().max(10_000).optional(),
      'depends on the model',
      'Prompt sent to the text recognition model when a chat completion request contains none; at most 10000 characters.',
    ),
  }),

  ...inGroup('Page cache and page limits', {
    cacheMaxBytes: setting(
      count(5_000_000_000, 0),
      '5000000000',
      'Maximum size of the page cache, in bytes: of this server, or of all servers with `databaseUrl`. 0 turns the cache off.',
    ),
    cacheFreshS: setting(count(3_600, 0), '3600', 'How long a cached page is served without a new request, in s.'),
    cacheKeepS: setting(
      count(604_800, 0),
      '604800',
      'How long a cached page is kept as a stale copy, served when the page cannot be read, in s.',
    ),
    cacheNoStore: setting(
      z.enum(['honour', 'ignore']).default('honour'),
      'honour',
      'With `ignore`, pages are cached despite `Cache-Control: no-store` or `private`.',
    ),
    renderTimeoutMs: setting(
      count(20_000, 100),
      '20000',
      'Time limit for converting one page after it was fetched, in ms; at least 100.',
    ),
    maxDepth: setting(count(256), '256', 'Maximum nesting depth of elements. Deeper pages are returned as plain text.'),
    maxElements: setting(
      count(80_000),
      '80000',
      'Maximum number of elements on a page. Larger pages are returned as plain text.',
    ),
    maxElementsKeyless: setting(
      count(10_000),
      '10000',
      'Maximum number of elements on a page for callers without a key. Larger pages are returned as plain text.',
    ),
  }),

  ...inGroup('Language and vision models', {
    chatUrl: setting(
      z.url().optional(),
      'none',
      'Base URL of an OpenAI-compatible server for language and vision models, such as `http://localhost:11434/v1`.',
    ),
    chatModel: setting(z.string().optional(), 'none', 'Name of the language model on the server at `chatUrl`.'),
    chatKey: secret(setting(z.string().optional(), 'none', 'API key for the language model.')),
    visionUrl: setting(z.url().optional(), 'value of `chatUrl`', 'Base URL of the vision model.'),
    visionModel: setting(
      z.string().optional(),
      'value of `chatModel`',
      'Name of the vision model, which describes images and pages.',
    ),
    visionKey: secret(setting(z.string().optional(), 'value of `chatKey`', 'API key for the vision model.')),
    visionTokens: setting(
      count(16_000, 100),
      '16000',
      'Maximum length of the page text sent to the vision model with the image, in tokens; at least 100.',
    ),
    readerlmUrl: setting(
      z.url().optional(),
      'value of `chatUrl`',
      'Base URL of the model that converts HTML to Markdown or JSON.',
    ),
    readerlmModel: setting(
      z.string().optional(),
      'value of `chatModel`',
      'Name of the model for `respondWith: readerlm-v2` and `jsonSchema`.',
    ),
    readerlmKey: secret(
      setting(z.string().optional(), 'value of `chatKey`', 'API key for the model that converts HTML.'),
    ),
    readerlmTokens: setting(
      count(60_000, 100),
      '60000',
      'Maximum length of the page sent to the model that converts HTML, in tokens; at least 100. Keep it below the context length of the model.',
    ),
    speechUrl: setting(
      z.url().optional(),
      'none',
      'Base URL of an OpenAI-compatible server that transcribes speech. Without it, no transcripts are embedded.',
    ),
    speechModel: setting(z.string().optional(), 'whisper-1', 'Name of the speech model on the server at `speechUrl`.'),
    speechKey: secret(setting(z.string().optional(), 'none', 'API key for the speech model.')),
    modelTimeoutMs: setting(
      count(120_000, 100),
      '120000',
      'Time limit for one response of these models, in ms; at least 100.',
    ),
    chargeModelFactor: setting(count(3), '3', 'Charge multiplier for the tokens of responses written by a model.'),
  }),

  ...inGroup('Embeddings and local models', {
    models: secret(
      setting(
        json(z.array(z.record(z.string(), z.unknown()))).default([]),
        'none',
        'Additional models for the model host: a list with one object for each model, as JSON in the environment. A model may be in a folder, in a repository on the hub, or on another server.',
      ),
    ),
    modelAliases: setting(
      json(z.record(z.string().min(1), z.string().min(1))).default({}),
      'none',
      'Additional model names: `{"jina-embeddings-v3": "multilingual-e5-small"}` uses the second model for requests that name the first. The response names the first, and its header `X-Served-Model` the second.',
    ),
    defaultReranker: setting(
      z.string().min(1).default('lectern-static-rerank-v2'),
      'lectern-static-rerank-v2',
      'Reranker for requests that name a reranker of a hosted service, such as `rerank-v3.5`, that is not available here.',
    ),
    defaultEmbedder: setting(
      z.string().min(1).default('lectern-static-v2'),
      'lectern-static-v2',
      "Embedding model for requests of APIs whose requests name no model, such as TEI's. Vectors of different models cannot be compared.",
    ),
    modelsWarm: setting(
      commaList.prefault([]),
      'none',
      'Models that are loaded before the model host reports ready: model ids, separated by commas.',
    ),
    modelMemoryBytes: setting(
      count(4_000_000_000),
      '4000000000',
      'Total memory limit of the loaded models, in bytes. The least recently used model is unloaded first.',
    ),
    modelDownload: setting(
      z.enum(['on', 'off']).default('on'),
      'on',
      'With `on`, models from the hub are downloaded on first use. With `off`, only models on this machine are served.',
    ),
    modelHubUrl: setting(
      z.url().default('https://huggingface.co'),
      'https://huggingface.co',
      'Base URL of the model hub, or of a server with the same API.',
    ),
    modelHubToken: secret(setting(z.string().optional(), 'none', 'Access token for the hub, needed for gated models.')),
    modelPrecision: setting(
      z.enum(['full', 'quantized']).default('full'),
      'full',
      '`quantized` loads the 8-bit version of a model where one exists: a quarter of the size, slightly less accurate. `LECTERN_MODEL_BATCHING` tells how many texts run together.',
    ),
    modelBatching: setting(
      z.enum(['exact', 'fast']).default('exact'),
      'exact',
      'For 8-bit graphs that use one scale for a whole batch: `exact` runs each text alone, so that its vector does not depend on the others, and a repeated request gives the same vector; `fast` runs them together, about twice as fast, and vectors differ by up to a few hundredths. Other graphs run together with both.',
    ),
    modelThreads: setting(
      z.coerce.number().int().min(1).optional(),
      'number of processors',
      'Number of threads that a local model uses for one batch of inputs.',
    ),
    modelPrices: setting(
      json(z.record(z.string(), z.partialRecord(z.enum(PRICE_NAMES), decimal))).default({}),
      'none',
      'Prices shown in the list of models, per unit, as decimal strings: `{"multilingual-e5-small": {"prompt": "0.00000005"}}`.',
    ),
    modelDeadlineMs: setting(
      count(60_000, 100),
      '60000',
      'Time limit for one request to the model host, including loading and queueing, in ms; at least 100.',
    ),
    modelMaxBodyBytes: setting(
      count(67_108_864),
      '67108864',
      'Maximum size of a request body on the model host, in bytes.',
    ),
    ffmpeg: setting(
      z.string().min(1).optional(),
      'ffmpeg',
      'Path of ffmpeg, which decodes audio and video. Without it, neither can be embedded.',
    ),
  }),

  ...inGroup('Search', {
    searchProviders: secret(
      setting(
        providerList,
        'none (only the local index is searched)',
        'Search providers in order of preference: names separated by commas (`brave,wikipedia`), or a list of `{name, key, url, budgetPerDay, …}`, as JSON in the environment.',
      ),
    ),
    searchProvidersAtOnce: setting(
      count(1),
      '1',
      'Number of search providers to query in parallel; their results are merged. The other providers are used if one of them fails.',
    ),
    searchSources: secret(
      setting(
        providerList,
        'none',
        'Public sources, which answer without a key, such as Wikipedia, Stack Overflow and arXiv. `all`, `none`, names separated by commas, or a list of `{name, key, url, budgetPerDay, …}`, as JSON in the environment. Turning on a source sends queries to it and accepts its terms.',
      ),
    ),
    contact: setting(
      z
        .string()
        .trim()
        .max(200)
        .refine(
          (text) => /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(text) || /^https?:\/\/[^\s()"<>]+$/i.test(text),
          'must be a mail address or a URL',
        )
        .optional(),
      'none',
      'Your mail address, or the URL of a page about your server. It is sent to search providers and public sources in the `User-Agent`, so that they can reach you. Some sources require it.',
    ),
    searchKeyless: setting(
      z.enum(['refused', 'limited']).default('refused'),
      'refused',
      'With `limited`, callers without a key may search, within their rate limit for reads.',
    ),
    searchEmbedder: setting(
      z.string().default('lectern-static-v2'),
      'lectern-static-v2',
      'Embedding model for semantic search in the local index. `none` searches by words only.',
    ),
    searchReranker: setting(
      z.string().default('none'),
      'none',
      'Model that reranks the results of the local index. `none` keeps the order in which the index returns them.',
    ),
    indexMaxBytes: setting(
      count(5_000_000_000, 0),
      '5000000000',
      'Approximate maximum size of the local index on disk, in bytes. The pages read longest ago are removed first. 0 turns the index off.',
    ),
    indexUrl: secret(
      setting(
        z
          .string()
          .regex(/^opensearch\+https?:\/\//, 'must begin with opensearch+https:// or opensearch+http://')
          .optional(),
        '`databaseUrl`, or SQLite in the data folder',
        'OpenSearch cluster for the local index, shared by any number of servers: `opensearch+https://user:password@host:9200/index`.',
      ),
    ),
    indexShared: setting(
      z.enum(['all', 'public', 'none']).default('public'),
      'public',
      'Which indexed pages other accounts can find: `public` shares pages whose URL contains no secret, `none` shares nothing, `all` shares everything. A page that is not shared is found only by the account that read it.',
    ),
  }),

  ...inGroup('Crawling and batch jobs', {
    crawlJobs: setting(
      count(8, 0),
      '8',
      'Maximum number of crawls that this process runs at once. 0 leaves them to other servers with the same database.',
    ),
    crawlPages: setting(
      count(4),
      '4',
      'Maximum number of pages that this process reads at once, across all its crawls.',
    ),
    crawlHostPages: setting(count(4), '4', 'Maximum number of pages of one host that a crawl reads at once.'),
    crawlDelayMs: setting(count(500, 0), '500', 'Default delay between requests from a crawl to the same host, in ms.'),
    crawlMaxPages: setting(count(10_000), '10000', 'Maximum number of pages in one crawl.'),
    crawlKeepDays: setting(count(7), '7', 'How long a crawl and its pages are kept after its start, in days.'),
    batchJobs: setting(
      count(2, 0),
      '2',
      'Maximum number of batch jobs that this process runs at once. 0 leaves them to `lectern worker`.',
    ),
  }),

  ...inGroup('Workers', {
    work: setting(
      commaList.transform((kinds) => (kinds.length ? kinds : [...JOB_KINDS])).pipe(z.array(z.enum(WORK_KINDS))),
      'batch,crawl',
      'Kinds of work that `lectern worker` does, separated by commas. `batch` and `crawl` are jobs; servers run those that `LECTERN_BATCH_JOBS` and `LECTERN_CRAWL_JOBS` leave to them. `documents`, `ocr` and `embed` are requests of servers that list them in `remoteWork`, and require `redisUrl`.',
    ),
    remoteWork: setting(
      commaList.pipe(z.array(z.enum(REMOTE_KINDS))),
      'none',
      'Kinds of work that this server sends to workers instead of doing it itself, separated by commas: `documents` reads and renders files, `ocr` recognizes text in images, `embed` runs local ONNX models. Requires `redisUrl`.',
    ),
    remoteWorkQueue: setting(
      count(200),
      '200',
      'Maximum number of requests of one kind that wait for a worker, of all servers together. Further requests get 503.',
    ),
    remoteWorkWaitMs: setting(
      count(30_000),
      '30000',
      'Maximum time that a request waits for a worker, in ms. Then it gets 503.',
    ),
  }),

  ...inGroup('Flow gateway', {
    flow: setting(
      z.string().optional(),
      'built-in flow: read, index, search',
      'YAML file of the flow that the gateway serves.',
    ),
    flowToken: secret(
      setting(
        z.string().min(16, 'must have at least 16 characters').optional(),
        'none',
        'Token that callers of the gateway send as `Authorization: Bearer`; at least 16 characters. Without it, the gateway serves only this machine, unless `auth` is `off`.',
      ),
    ),
    flowLenient: setting(
      z.enum(['on', 'off']).default('off'),
      'off',
      '`on` loads flow files with unknown options or two executors with the same name, with a warning for each. Otherwise they are errors.',
    ),
    flowIndexMaxBytes: setting(
      count(5_000_000_000),
      '5000000000',
      'Maximum size on disk of each document collection of the flows, in bytes. The oldest documents are removed first.',
    ),
  }),

  ...inGroup('Accounts and limits', {
    auth: setting(
      z.enum(['on', 'off']).default('on'),
      'on',
      '`off` serves every caller without a key and without limits. Use it only in a private network.',
    ),
    adminSecret: secret(
      setting(
        z.string().min(16, 'must have at least 16 characters').optional(),
        'none',
        'Secret of the admin API; at least 16 characters. Without it, the admin API is off.',
      ),
    ),
    plans: setting(
      json(plansShape).default({}),
      'the table of plans',
      'Overrides for the table of plans, by plan and endpoint: `{free: {reader: {requestsPerMinute: 50}}}`, as JSON in the environment.',
    ),
    keylessRpm: setting(
      json(limitOrNone).default(20),
      '20',
      'Requests per minute from one client IP without a key. `none` removes the limit, 0 refuses all such requests.',
    ),
    keylessFeatures: setting(
      commaList
        .pipe(z.array(z.enum(FEATURES, { error: `must be one of ${FEATURES.join(', ')}` })))
        .prefault(['scripts']),
      'scripts',
      `Features that callers without a key may use, separated by commas: ${FEATURES.join(', ')}.`,
    ),
    refusedRpm: setting(
      count(60),
      '60',
      'Requests per minute from one client IP with a wrong or missing key. Further requests get 429.',
    ),
    keyGraceS: setting(
      count(0, 0),
      '0',
      'How long a recently verified key stays valid while the database is unreachable, in s. 0 turns this off.',
    ),
    limitStore: setting(
      z.enum(['memory', 'database', 'redis']).optional(),
      'redis with a redisUrl, database with a databaseUrl, else memory',
      'Where rate limits are counted. `memory` counts in this process only; `database` and `redis` are shared by all servers.',
    ),
    chargeProxyFactor: setting(
      count(5),
      '5',
      'Charge multiplier for the tokens of responses read with the `proxy` option.',
    ),
    usageKeepDays: setting(
      count(90),
      '90',
      'How long the usage record of each request is kept, in days. Daily totals are kept forever.',
    ),
  }),

  ...inGroup('Database and storage', {
    dataDir: setting(
      z
        .string()
        .default('.lectern')
        .transform((dir) => path.resolve(dir)),
      '.lectern',
      'Data folder: database, page cache, browser, models, temporary files.',
    ),
    databaseUrl: secret(
      setting(
        z
          .string()
          .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres://')
          .optional(),
        'SQLite in the data folder',
        'PostgreSQL database, shared by any number of servers: `postgres://user:password@host/name`.',
      ),
    ),
    redisUrl: secret(
      setting(
        z
          .string()
          .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
          .optional(),
        'none',
        'Redis or Valkey server, shared by any number of servers. It counts rate limits and distributes jobs.',
      ),
    ),
    blobsUrl: setting(
      z
        .string()
        .regex(/^s3:\/\//, 'must begin with s3://')
        .optional(),
      'the database, or the data folder without one',
      'Bucket of an S3 store, shared by any number of servers: `s3://bucket/prefix`. It holds the content of the page cache and pictures, and large inputs, results and uploaded files of batch jobs. Requires `databaseUrl`.',
    ),
    blobsEndpoint: setting(
      z.url({ protocol: /^https?$/ }).optional(),
      'AWS',
      'URL of the S3 store, if it is not that of AWS, such as `http://localhost:9000`.',
    ),
    blobsRegion: setting(
      z.string().min(1).optional(),
      '`AWS_REGION`, or `us-east-1` with `blobsEndpoint`',
      'Region of the bucket.',
    ),
    blobsAccessKey: setting(
      z.string().min(1).optional(),
      'found by the AWS SDK',
      'Access key of the S3 store. Without it, the usual places apply: `AWS_ACCESS_KEY_ID`, the files in `~/.aws`, the role of the machine.',
    ),
    blobsSecretKey: secret(
      setting(z.string().min(1).optional(), 'found by the AWS SDK', 'Secret key that belongs to `blobsAccessKey`.'),
    ),
    blobsPathStyle: setting(
      z.enum(['on', 'off']).optional(),
      '`on` with `blobsEndpoint`',
      'With `on`, the bucket is in the path of the URL instead of its host name.',
    ),
    diskMinFreeBytes: setting(
      count(67_108_864, 0),
      '67108864',
      'Free disk space below which `/ready` reports a full disk, in bytes. Applies to the data folder and to the folder for temporary files.',
    ),
  }),

  ...inGroup('Logging and metrics', {
    logLevel: setting(
      z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
      'info',
      'Lowest level that is logged: `debug`, `info`, `warn`, `error`, or `silent` for nothing.',
    ),
    logFormat: setting(
      z.enum(LOG_FORMATS).default('auto'),
      'auto',
      'Format of the log: `text` for readable lines, `json` for one JSON object on each line, or `auto` for text on a terminal and JSON elsewhere.',
    ),
    otlpUrl: setting(
      z.url().optional(),
      'none',
      'OpenTelemetry collector that receives traces over OTLP/HTTP, such as `http://localhost:4318`.',
    ),
    otlpHeaders: secret(
      setting(
        json(z.record(z.string(), z.string())).default({}),
        'none',
        'Headers for requests to the collector: `{"authorization": "…"}`, as JSON in the environment.',
      ),
    ),
    otlpSampleRatio: setting(
      z.coerce.number().min(0).max(1).default(1),
      '1',
      'Sampling rate for requests without a sampling decision in `traceparent`, from 0 to 1.',
    ),
    otlpService: setting(z.string().default('lectern'), 'lectern', 'Service name in the traces.'),
  }),
} satisfies Record<string, Setting & { readonly group: SettingGroup }>;

export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['schema']> }>;
export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
const PREFIX = 'LECTERN_';
export const environmentName = (name: string): string => `${PREFIX}${kebab(name).replaceAll('-', '_').toUpperCase()}`;
export const flagName = (name: string): string => `--${kebab(name)}`;
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * The settings are invalid. The message has one line for each problem. To recover, correct the settings and start
 * again.
 */
export class ConfigError extends Error {}

/** Known variables that are not settings of the server. */
export const OTHER_VARIABLES = ['LECTERN_CONFIG', 'LECTERN_BENCH_DATA', 'LECTERN_URL', 'LECTERN_API_KEY'] as const;

/** One sentence for each variable that starts with LECTERN_ but is unknown. They are probably misspelled. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...SETTING_NAMES.map(environmentName), ...OTHER_VARIABLES];
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => `${name} is not a known setting and has no effect${suggestion(name, known, PREFIX)}`);
}

/** All names start with `prefix`, so it says nothing about which is meant. */
function suggestion(name: string, known: readonly string[], prefix = ''): string {
  const rest = (text: string) => text.slice(prefix.length);
  const near = nearestName(rest(name), known.map(rest));
  return near === undefined ? '' : `: did you mean ${prefix}${near}?`;
}

interface Sources {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}

/**
 * Reads and checks all settings. The file is the one specified by `--config` or LECTERN_CONFIG, or else `lectern.yaml`,
 * if it exists. Throws ConfigError with one line for each problem. Each line names the source of the value and, for the
 * file, the line number.
 */
export function readConfig({ environment = {}, flags = {} }: Sources = {}): Config {
  const file = readFile((flags.config as string | undefined) ?? environment.LECTERN_CONFIG);
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const places: [(path: readonly PropertyKey[]) => string, unknown][] = [
      [(path) => dotted([flagName(name), ...path]), flags[name]],
      [(path) => dotted([environmentName(name), ...path]), environment[environmentName(name)] || undefined],
      [(path) => file.placeOf([name, ...path]), file.values[name]],
    ];
    const [place, value] = places.find(([, given]) => given !== undefined) ?? [() => '', undefined];
    if (value === null) {
      // zod would coerce null to 0.
      problems.push(`${place([])}: has no value`);
      continue;
    }
    const result = SETTINGS[name].schema.safeParse(value, { error: describeIssue });
    if (result.success) config[name] = result.data;
    else for (const issue of result.error.issues) problems.push(...problemsOf(issue, place));
  }
  const unknown = Object.keys(file.values).filter((name) => !Object.hasOwn(SETTINGS, name));
  for (const name of unknown)
    problems.push(`${file.placeOf([name])}: unknown setting${suggestion(name, SETTING_NAMES)}`);
  if (problems.length) throw new ConfigError(problems.join('\n'));
  return Object.freeze(config) as Config;
}

/** Describes a wrong value in words, where the schema has no message of its own. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${ownValue(TYPES, issue.expected) ?? issue.expected}`;
    case 'too_small':
      return `must be ${issue.origin === 'string' || issue.origin === 'array' ? 'longer' : `at least ${issue.minimum}`}`;
    case 'too_big':
      return `must be ${issue.origin === 'string' || issue.origin === 'array' ? 'shorter' : `at most ${issue.maximum}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL' : undefined;
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function problemsOf(issue: z.core.$ZodIssue, place: (path: readonly PropertyKey[]) => string): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${place([...issue.path, key])}: unknown setting`);
  }
  return [`${place(issue.path)}: ${issue.message || 'invalid value'}`];
}

const dotted = (path: readonly PropertyKey[]) => path.map(String).join('.');

interface SettingsFile {
  readonly values: Readonly<Record<string, unknown>>;
  /** The location of a value, or of the nearest value that contains it: `plans.free in lectern.yaml, line 3`. */
  placeOf(path: readonly PropertyKey[]): string;
}

function readFile(chosen: string | undefined): SettingsFile {
  const file = chosen ?? 'lectern.yaml';
  if (!chosen && !existsSync(file)) return { values: {}, placeOf: dotted };
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
  if (typeof values !== 'object' || Array.isArray(values))
    throw new ConfigError(`${file}: must contain settings as \`name: value\``);
  return {
    values: values as Record<string, unknown>,
    placeOf(path) {
      const offset = offsetOf(document.contents, path);
      const line = offset === undefined ? '' : `, line ${lines.linePos(offset).line}`;
      return `${dotted(path)} in ${file}${line}`;
    },
  };
}

/** The offset of the deepest existing key along a path, in characters from the start of the file. */
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
