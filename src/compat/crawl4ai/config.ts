/** Turns a `crawler_config` into options of the reader. Its fields are at the top or under `params`. */
import { readFields } from '../fields.ts';
import { CRAWLER_CONFIG, type CrawlerConfig } from './fields.ts';

const MAX_TIMEOUT_S = 180;
/** Cache modes that do not read the cache. */
const UNREAD = /^(?:bypass|disabled|write_only)$/i;
/** A name that may be part of a header. */
const NAME = /^\w{1,64}$/;
const MAX_IGNORED = 20;

export interface ReadConfig {
  readonly options: Readonly<Record<string, unknown>>;
  readonly screenshot: boolean;
  /** Fields that were sent and have no effect. */
  readonly ignored: readonly string[];
}

export function readConfig(given: Readonly<Record<string, unknown>> = {}): ReadConfig {
  const fields = isObject(given.params) ? given.params : given;
  const config = readFields(CRAWLER_CONFIG, fields);
  const known = new Set([...Object.keys(CRAWLER_CONFIG.shape), 'type', 'params']);
  const unknown = Object.keys(fields).filter((name) => !known.has(name) && NAME.test(name));
  const scripted = config.wait_for !== undefined && selectorOf(config.wait_for) === undefined ? ['wait_for'] : [];
  return {
    options: optionsOf(config),
    screenshot: config.screenshot ?? false,
    ignored: [...scripted, ...unknown].slice(0, MAX_IGNORED),
  };
}

function optionsOf(config: CrawlerConfig): Record<string, unknown> {
  const targets = [config.css_selector ?? [], config.target_elements ?? []].flat();
  const removed = [config.excluded_tags ?? [], config.excluded_selector ?? []].flat();
  const waited = config.wait_for && selectorOf(config.wait_for);
  const mode = typeof config.cache_mode === 'object' ? config.cache_mode.params : config.cache_mode;
  return {
    ...(targets.length > 0 && { targetSelector: targets }),
    ...(removed.length > 0 && { removeSelector: removed }),
    ...(waited && { waitForSelector: waited }),
    ...(config.js_code && { injectPageScript: config.js_code }),
    ...(typeof mode === 'string' && UNREAD.test(mode) && { noCache: true }),
    ...(config.page_timeout && { timeout: Math.min(Math.ceil(config.page_timeout / 1_000), MAX_TIMEOUT_S) }),
    ...(config.remove_overlay_elements && { removeOverlay: true }),
    ...(config.scan_full_page && { scroll: 'idle' }),
  };
}

/** The selector in `css:…` or in a bare text; `undefined` for `js:…`. */
function selectorOf(wait: string): string | undefined {
  if (/^(?:js:|\(\)\s*=>)/.test(wait)) return undefined;
  return wait.replace(/^css:/, '');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
