/**
 * Presets: named sets of options, used for options that the caller did not set (docs/reference/wire/reader.md,
 * Presets).
 */
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

/** Options that need a browser. They are dropped if the request specifies an engine that runs no scripts. */
const BROWSER_ONLY = ['detachInvisibles', 'removeOverlay'] as const satisfies (keyof GivenOptions)[];
const SCRIPTLESS = new Set(['direct', 'curl', 'cf-browser-rendering']);

/**
 * Returns the caller's options, with unset options filled in from the preset. Fields of `markdown` are filled in
 * separately.
 */
export function applyPreset(given: GivenOptions): GivenOptions {
  if (!given.preset) return given;
  const under = { ...PRESET_OPTIONS[given.preset] };
  if (SCRIPTLESS.has(given.engine ?? '')) for (const name of BROWSER_ONLY) delete under[name];
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const markdown = { ...under.markdown, ...given.markdown };
  return { ...under, ...set, ...(Object.keys(markdown).length > 0 && { markdown }) };
}
