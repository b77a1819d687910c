/** Presets: named sets of options, laid under what the caller gave (contract, section 3.4). */
import type { GivenOptions, PRESETS } from './options.ts';

type PresetName = (typeof PRESETS)[number];

export const PRESET_OPTIONS: Readonly<Record<PresetName, GivenOptions>> = {
  reader: {
    respondWith: 'frontmatter',
    retainLinks: 'all',
    retainImages: 'all',
    retainMedia: 'html',
    detachInvisibles: true,
    removeOverlay: true,
    markdown: { linkStyle: 'referenced' },
  },
  index: {
    respondWith: 'frontmatter',
    retainLinks: 'text',
    retainImages: 'alt',
    retainMedia: 'none',
    markdownChunking: 's3',
  },
  research: {
    respondWith: 'markdown+frontmatter',
    retainLinks: 'all',
    retainImages: 'all',
    retainMedia: 'link',
    markdownChunking: 'h3',
  },
  agent: { respondWith: 'frontmatter', retainImages: 'alt', markdownChunking: 'h3' },
  spider: { respondWith: 'markdown+frontmatter', markdownChunking: 'h3', withLinksSummary: 'all' },
};

/** What only a browser can do. An engine that is named and runs no scripts leaves it out. */
const BROWSER_ONLY = ['detachInvisibles', 'removeOverlay'] as const satisfies (keyof GivenOptions)[];
const SCRIPTLESS = new Set(['direct', 'curl', 'cf-browser-rendering']);

/** What was given, with the gaps that its preset fills. A field of `markdown` is an option of its own here. */
export function preset(given: GivenOptions): GivenOptions {
  if (!given.preset) return given;
  const under = { ...PRESET_OPTIONS[given.preset] };
  if (SCRIPTLESS.has(given.engine ?? '')) for (const name of BROWSER_ONLY) delete under[name];
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const markdown = { ...under.markdown, ...given.markdown };
  return { ...under, ...set, ...(Object.keys(markdown).length > 0 && { markdown }) };
}
