/** `npm run docs`: generates docs/reference/ from the tables in src/. A test compares the files with this output. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MODEL_CODES, RATE_CODES } from '#api/envelopes/model.ts';
import { environmentName, flagName, SETTING_GROUPS, SETTING_NAMES, SETTINGS, type SettingGroup } from '#config.ts';
import { PROBLEMS, type ProblemName } from '#errors.ts';
import { describe, headerTitle } from '#http/openapi.ts';
import { ENDPOINTS, PLAN_NAMES, PLANS } from '#plans.ts';
import { OPTIONS, type OptionRow } from '#reader/index.ts';
import { METRICS } from '#telemetry/metrics-table.ts';
import { SPANS } from '#telemetry/trace.ts';
import { flagTableText } from './cli-flags.ts';
import { cliParts } from './cli-page.ts';

const MADE = '<!-- Made by `npm run docs` from the tables in src/. -->';

const cell = (text: string) => text.replaceAll('|', '\\|');

const table = (heads: string[], rows: string[][]) =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/** The text of each page by its file name. */
export function referencePages(): Record<string, string> {
  const options = Object.entries(OPTIONS as Readonly<Record<string, OptionRow>>).map(([name, option]) => [
    `\`${name}\``,
    option.headers.map((header) => `\`${headerTitle(header)}\``).join(', '),
    option.headers.length ? option.wins : '',
    [describe(option), option.needsBrowser && needs(name), option.caching && `Cache: ${option.caching}.`]
      .filter(Boolean)
      .join(' '),
  ]);
  const settings = (group: SettingGroup) =>
    SETTING_NAMES.filter((name) => SETTINGS[name].group === group).map((name) => [
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
  const spans = Object.entries(SPANS).map(([name, meaning]) => [`\`${name}\``, meaning]);
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
    ['all endpoints', '`concurrency`', ...PLAN_NAMES.map((name) => shownLimit(PLANS[name].concurrency))],
    ['all endpoints', '`features`', ...PLAN_NAMES.map((name) => PLANS[name].features.join(', '))],
  ];
  return {
    'options.md': page(
      'Reader options',
      'All options: the name in query and body, the header, and which of the two wins when both are given.',
      table(['Option', 'Headers', 'Wins', 'Meaning'], options),
    ),
    'config.md': page(
      'Settings',
      'Flags override environment variables, which override the settings file (`--config`, `LECTERN_CONFIG`, else `lectern.yaml`).',
      SETTING_GROUPS.map(
        (group) =>
          `## ${group}\n\n${table(['Environment', 'Flag', 'In the file', 'Default', 'Meaning'], settings(group))}`,
      ).join('\n\n'),
    ),
    'errors.md': page(
      'Errors',
      'All errors: the HTTP status, the five-digit `status` and the `name` on the reader and the search host, and the `code` on the model host (with its HTTP status in brackets where that differs).',
      table(['HTTP', 'status', 'name', 'code', 'Meaning'], errors),
    ),
    'metrics.md': page(
      'Metrics and spans',
      'The metrics that `/metrics` exports to Prometheus; [the guide](../guide/monitoring.md) shows how to reach it. The default metrics of Node.js processes are exported too: `process_…` (CPU, memory, file descriptors) and `nodejs_…` (event loop, garbage collection, heap).',
      `${table(['Metric', 'Type', 'Labels', 'Meaning'], metrics)}\n\n## Spans of a trace\n\n${table(['Span', 'Meaning'], spans)}`,
    ),
    'limits.md': page(
      'Limits of the plans',
      'Limits of one key: requests and tokens in the last 60 seconds for each endpoint, and simultaneous requests. The setting `plans` changes every number; [the guide](../guide/keys.md) explains how they are counted.',
      table(['Endpoint', 'Limit', ...PLAN_NAMES], limits),
    ),
  };
}

/** The reference page of the command line. Loads all commands. */
export const cliPage = async (): Promise<string> =>
  page(
    'Commands and flags',
    'Every command with its options, as `lectern <command> --help` prints them. [The guide](../guide/command-line.md) shows how to combine them.',
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
