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
