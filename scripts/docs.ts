/** Writes docs/reference/ from the tables of the code: `npm run docs`. A test holds the files to what this makes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MODEL_CODES, RATE_CODES } from '#api/envelopes/model.ts';
import { environmentName, flagName, SETTING_NAMES, SETTINGS } from '#config.ts';
import { PROBLEMS, type ProblemName } from '#errors.ts';
import { describe, headerTitle } from '#http/openapi.ts';
import { ENDPOINTS, PLAN_NAMES, PLANS } from '#plans.ts';
import { OPTION_GROUPS, OPTIONS, type OptionRow } from '#reader/index.ts';
import { METRICS } from '#telemetry/metrics-table.ts';
import { SPANS } from '#telemetry/trace.ts';
import { flagTableText } from './cli-flags.ts';
import { cliParts } from './cli-page.ts';

const MADE = '<!-- Made by `npm run docs` from the tables in src/. -->';

const cell = (text: string) => text.replaceAll('|', '\\|');

const table = (heads: string[], rows: string[][]) =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/** A table of options under the heading of each group. */
function optionTables(): string {
  const rows = Object.entries(OPTIONS as Readonly<Record<string, OptionRow>>);
  return OPTION_GROUPS.map((group) => {
    const options = rows.filter(([, option]) => option.group === group);
    const cells = options.map(([name, option]) => [
      `\`${name}\``,
      option.headers.map((header) => `\`${headerTitle(header)}\``).join(', '),
      option.headers.length ? option.wins : '',
      [describe(option), option.needsBrowser && needs(name), option.caching && `Cache: ${option.caching}.`]
        .filter(Boolean)
        .join(' '),
    ]);
    return cells.length && `## ${group}\n\n${table(['Option', 'Headers', 'Wins', 'Meaning'], cells)}`;
  })
    .filter(Boolean)
    .join('\n\n');
}

/** File name to text. */
export function referencePages(): Record<string, string> {
  const settings = SETTING_NAMES.map((name) => [
    `\`${environmentName(name)}\``,
    `\`${flagName(name)}\``,
    `\`${name}\``,
    SETTINGS[name].defaultText,
    SETTINGS[name].meaning,
  ]);
  const errors = Object.entries(PROBLEMS).map(([name, { code, status, message }]) => [
    String(code),
    String(status),
    `\`${name}\``,
    modelCode(name as ProblemName),
    message,
  ]);
  const metrics = Object.entries(METRICS).map(([name, { type, labels, meaning }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    meaning,
  ]);
  const steps = Object.entries(SPANS).map(([name, meaning]) => [`\`${name}\``, meaning]);
  const limits = [
    ...ENDPOINTS.flatMap((endpoint) =>
      (['requestsPerMinute', 'tokensPerMinute'] as const)
        .filter((unit) => PLAN_NAMES.some((name) => PLANS[name].endpoints[endpoint][unit] !== undefined))
        .map((unit) => [
          `\`${endpoint}\``,
          `\`${unit}\``,
          ...PLAN_NAMES.map((name) => shownLimit(PLANS[name].endpoints[endpoint][unit])),
        ]),
    ),
    ['all together', '`concurrency`', ...PLAN_NAMES.map((name) => shownLimit(PLANS[name].concurrency))],
    ['all together', '`features`', ...PLAN_NAMES.map((name) => PLANS[name].features.join(', '))],
  ];
  return {
    'options.md': page(
      'Reader options',
      'Every option by its name in query and body, its headers, and which of them wins when both are given.',
      optionTables(),
    ),
    'config.md': page(
      'Settings',
      'Flags win over the environment, the environment over the file (`--config`, `LECTERN_CONFIG`, else `lectern.yaml`).',
      table(['Environment', 'Flag', 'In the file', 'Default', 'Meaning'], settings),
    ),
    'errors.md': page(
      'Failures',
      'The HTTP status, the five-digit `status` and the `name` of each failure on the reader and the search host, and its `code` on the model host (with the HTTP status there where it differs).',
      table(['HTTP', 'status', 'name', 'code', 'Meaning'], errors),
    ),
    'metrics.md': page(
      'Metrics and steps of a trace',
      'What `/metrics` gives to Prometheus; [the guide](../guide/monitoring.md) tells where it is. Beside these there are those of the process under the names that all programs on Node have: `process_…` (processor, memory, file descriptors) and `nodejs_…` (event loop, garbage collection, heap).',
      `${table(['Metric', 'Type', 'Labels', 'Meaning'], metrics)}\n\n## Steps of a trace\n\n${table(['Step', 'What it is'], steps)}`,
    ),
    'limits.md': page(
      'Limits of the plans',
      'For each key: requests and tokens in the last 60 seconds by endpoint, and requests at once. The setting `plans` changes each number; [the guide](../guide/keys.md) tells how they are counted.',
      table(['Endpoint', 'Limit', ...PLAN_NAMES], limits),
    ),
  };
}

/** The page of the command line, whose commands are loaded for it. */
export const cliPage = async (): Promise<string> =>
  page(
    'Commands and flags',
    'Every command with its options, as `lectern <command> --help` tells them. [The guide](../guide/command-line.md) tells how they are used together.',
    await cliParts(),
  );

const shownLimit = (limit: number | undefined) => limit?.toLocaleString('en-US') ?? 'none';

function modelCode(name: ProblemName): string {
  const row: { code: string; status: number } | undefined = MODEL_CODES[name as keyof typeof MODEL_CODES];
  if (name === 'RateLimitTriggeredError')
    return Object.values(RATE_CODES)
      .map((code) => `\`${code}\``)
      .join(', ');
  if (!row) return '';
  return row.status === PROBLEMS[name].code ? `\`${row.code}\`` : `\`${row.code}\` (${row.status})`;
}

const page = (title: string, lead: string, body: string) => `${MADE}\n\n# ${title}\n\n${lead}\n\n${body}\n`;

const needs = (name: string) =>
  name === 'respondWith' ? 'Pictures need the browser.' : name === 'engine' ? '' : 'Needs the browser.';

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
  const folder = path.resolve(path.dirname(here), '../docs/reference');
  mkdirSync(folder, { recursive: true });
  const flagTable = path.resolve(folder, '../../src/generated/cli-flags.ts');
  writeFileSync(flagTable, flagTableText());
  execFileSync('npx', ['biome', 'format', '--write', flagTable], { stdio: 'inherit' });
  for (const [name, text] of Object.entries(referencePages())) writeFileSync(path.join(folder, name), text);
  writeFileSync(path.join(folder, 'cli.md'), await cliPage());
}
