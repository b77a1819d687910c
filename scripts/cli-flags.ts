/**
 * The flags of the command line, drawn from the tables of options and settings: `npm run docs` writes them to
 * src/cli/flag-table.ts, so that `lectern read --help` need not load the tables with all that they check by.
 */

import { z } from 'zod';
import { USAGE_GROUPS } from '#accounts/index.ts';
import { environmentName, flagName, SETTING_NAMES, SETTINGS } from '#config.ts';
import { type DescribedOption, inputSchema } from '#http/openapi.ts';
import { PLAN_NAMES } from '#plans.ts';
import { OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import type { FlagRow, SettingFlag } from '../src/cli/flags.ts';

/** Groups of the help, in their order; an option that is in none is among the further ones. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'What to search for':
    'num page type provider gl hl location nfpr fallback ext filetype intitle loc site since until passages withFavicons'.split(
      ' ',
    ),
  Answer: 'url respondWith preset base maxTokens tokenBudget explain trace jsonSchema instruction'.split(' '),
  'What of the page':
    'targetSelector removeSelector withIframe withShadowDom removeOverlay detachInvisibles page'.split(' '),
  Markdown:
    'retainLinks retainImages retainMedia withLinksSummary withImagesSummary withGeneratedAlt keepImgDataUrl markdown noGfm markdownChunking'.split(
      ' ',
    ),
  'Engine and waiting':
    'engine timeout respondTiming waitForSelector injectPageScript injectFrameScript viewport preloadUrl noServiceWorker'.split(
      ' ',
    ),
  Request:
    'locale referer userAgent setCookies customHeader skipCertVerification proxyUrl proxy proxyResources robotsTxt assertStatusCode'.split(
      ' ',
    ),
  'Cache and privacy': 'noCache cacheTolerance doNotTrack zeroDataRetention exportStorageState storageState'.split(' '),
};

/** What is read comes as an argument; `count` and `engine` of the search are other names. */
const NO_READ_FLAGS = ['html', 'file', 'pdf'];
const NO_SEARCH_FLAGS = ['q', 'count', 'engine'];
/** Given without a value they would say nothing. */
const TEXTS = ['markdownChunking'];

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

export const readFlags = (): FlagRow[] => flagsOf(OPTIONS, NO_READ_FLAGS, 'page');
export const searchFlags = (): FlagRow[] => flagsOf(ALL_OPTIONS, NO_SEARCH_FLAGS, 'search');

function flagsOf(
  table: Readonly<Record<string, DescribedOption>>,
  without: readonly string[],
  kind: 'page' | 'search',
): FlagRow[] {
  const groups = Object.entries(GROUPS).filter(([group]) => kind === 'search' || group !== 'What to search for');
  const order = groups.flatMap(([group, names]) => names.map((name) => ({ group, name })));
  const groupOf = (name: string) => order.find((one) => one.name === name)?.group ?? 'Further';
  const placeOf = (name: string) => order.findIndex((one) => one.name === name) >>> 0;
  return Object.keys(table)
    .filter((name) => !without.includes(name))
    .sort((one, other) => placeOf(one) - placeOf(other))
    .map((name) => rowOf(name, groupOf(name), table[name]!));
}

function rowOf(name: string, group: string, { schema, meaning, unit, defaultText }: DescribedOption): FlagRow {
  const input = inputSchema(schema) as JsonSchema;
  const branches = input.anyOf ?? [input];
  const output = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonSchema;
  const words = [...branches, output].flatMap((branch) => branch.enum ?? []).filter((word) => typeof word === 'string');
  const shape = branches.find((branch) => branch.type === 'object');
  const fields = Object.keys(shape?.properties ?? {});
  const has = (type: string) => branches.some((branch) => branch.type === type);
  const kind = shape ? 'object' : has('array') ? 'list' : has('boolean') && !TEXTS.includes(name) ? 'switch' : 'text';
  return {
    name,
    kind,
    group,
    meaning,
    ...(unit && { unit }),
    ...(defaultText && { defaultText }),
    ...(words.length && { words: [...new Set(words)] as string[] }),
    ...(fields.length > 0 && { fields }),
  };
}

export const settingFlags = (): SettingFlag[] =>
  SETTING_NAMES.map((name) => {
    const { meaning, defaultText } = SETTINGS[name];
    return { name, flag: flagName(name), variable: environmentName(name), meaning, defaultText };
  });

export const flagTableText =
  (): string => `/** Made by \`npm run docs\` from the tables of options and settings; a test holds it to them. */
import type { UsageGroup } from '#accounts/index.ts';
import type { PlanName } from '#plans.ts';
import type { FlagRow, SettingFlag } from './flags.ts';

export const READ_FLAGS: readonly FlagRow[] = ${JSON.stringify(readFlags())};

export const SEARCH_FLAGS: readonly FlagRow[] = ${JSON.stringify(searchFlags())};

export const SETTING_FLAGS: readonly SettingFlag[] = ${JSON.stringify(settingFlags())};

export const PLAN_CHOICES: readonly PlanName[] = ${JSON.stringify(PLAN_NAMES)};

export const USAGE_CHOICES: readonly UsageGroup[] = ${JSON.stringify(USAGE_GROUPS)};
`;
