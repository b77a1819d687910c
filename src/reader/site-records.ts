/**
 * Records from earlier reads of whether the scripts of a site add content to the HTML that its server sends. Records
 * are stored for a week after the last comparison, under a hash of the host, the kind of path and the scripts of the
 * page; URLs are not stored.
 * A record that scripts add nothing applies only to pages with no more content than the pages that were compared.
 */
import { createHash } from 'node:crypto';
import { type SharedStore, SharedUnavailableError } from '#storage/shared/values.ts';
import type { Log } from '#telemetry/log.ts';
import { MAX_ELEMENT_KINDS, type Template } from './engines/template.ts';

export interface SiteRecords {
  /**
   * Returns the known data about similar pages, and whether to render this page too, for a comparison. With `keep`, the
   * read counts toward the next comparison; without it, nothing is stored. While the store is unreachable, nothing is
   * known, so that pages are rendered.
   */
  lookUp(url: string, template: Template, keep: boolean): Promise<SiteView>;
  /** Records the result of a comparison; `unchanged` means that rendering made no difference. */
  recordComparison(url: string, template: Template, unchanged: boolean): Promise<void>;
}

export interface SiteView {
  readonly scripts: 'add nothing' | 'add' | 'unknown';
  readonly compare: boolean;
}

export interface SiteRecordsOptions {
  readonly store: SharedStore;
  readonly maxSites?: number;
  readonly clock?: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/**
 * Number of comparisons without a difference after which scripts are considered irrelevant. One page may be unchanged
 * by chance, but rarely two. A site with an earlier difference needs more comparisons.
 */
const COMPARISONS = 2;
const COMPARISONS_AFTER_DIFFERENCE = 4;
/** Number of reads, and time, after which a site is compared again. */
const MAX_READS_BETWEEN = 20;
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;
const RETENTION_MS = 7 * MAX_AGE_MS;
const MAX_STREAK = 1_000;

interface SiteRecord {
  /** Number of consecutive comparisons without a difference. */
  readonly streak: number;
  readonly differed: boolean;
  /** Number of reads since the last comparison. */
  readonly reads: number;
  /** In ms since 1970. */
  readonly comparedAt: number;
  /** Kinds of elements on the compared pages, as 32-bit hashes. */
  readonly kinds: readonly number[];
  /** Smallest word count of the main content among the compared pages. */
  readonly words: number;
}

const UNKNOWN: SiteView = { scripts: 'unknown', compare: true };

export function createSiteRecords({
  store,
  maxSites = 20_000,
  clock = Date.now,
  log,
}: SiteRecordsOptions): SiteRecords {
  const sites = store.space({ name: 'sites', maxValues: maxSites });
  /** The records can be collected again, so failures are not passed on. The store itself logs that it is away. */
  const tolerate = (error: unknown) => {
    if (!(error instanceof SharedUnavailableError)) {
      log?.warn({ err: error }, 'site records could not be read or written');
    }
    return undefined;
  };
  const countRead = (name: string) =>
    sites.update(name, (value, nowMs) => {
      if (value === undefined) return { result: undefined };
      const record = JSON.parse(value) as SiteRecord;
      const keepMs = record.comparedAt + RETENTION_MS - nowMs;
      return { value: JSON.stringify({ ...record, reads: record.reads + 1 }), keepMs, result: undefined };
    });

  return {
    async lookUp(url, template, keep) {
      const name = nameOf(url, template);
      const [known] = (await sites.get([name]).catch(tolerate)) ?? [];
      if (known === undefined) return UNKNOWN;
      // The read does not wait for its count.
      if (keep) void countRead(name).catch(tolerate);
      return viewOf(JSON.parse(known) as SiteRecord, template, clock());
    },
    async recordComparison(url, template, unchanged) {
      await sites
        .update(nameOf(url, template), (value, nowMs) => {
          const before = value === undefined ? undefined : (JSON.parse(value) as SiteRecord);
          const record = learn(before, template, { unchanged, nowMs });
          return { value: JSON.stringify(record), keepMs: RETENTION_MS, result: undefined };
        })
        .catch(tolerate);
    },
  };
}

function viewOf(record: SiteRecord, template: Template, nowMs: number): SiteView {
  const { streak, differed, reads, comparedAt } = record;
  const due = reads >= MAX_READS_BETWEEN || nowMs - comparedAt >= MAX_AGE_MS;
  if (streak === 0) return { scripts: 'add', compare: due };
  if (streak < (differed ? COMPARISONS_AFTER_DIFFERENCE : COMPARISONS) || due || !isLike(record, template))
    return UNKNOWN;
  return { scripts: 'add nothing', compare: false };
}

/**
 * Minimum number of words, relative to the shortest compared page: a page with far fewer words may have the same
 * containers without their content.
 */
const MIN_WORD_SHARE = 0.5;

/** Whether a page contains only known kinds of elements, and about as many words as the compared pages. */
function isLike(record: SiteRecord, { kinds, words }: Template): boolean {
  const known = new Set(record.kinds);
  return words >= record.words * MIN_WORD_SHARE && kinds.every((kind) => known.has(kind));
}

/** Adds an unchanged page to the record; if there is a difference, resets the record. */
function learn(
  before: SiteRecord | undefined,
  { kinds, words }: Template,
  { unchanged, nowMs }: { readonly unchanged: boolean; readonly nowMs: number },
): SiteRecord {
  const compared = { reads: 0, comparedAt: nowMs };
  if (!unchanged) return { ...compared, streak: 0, differed: true, kinds: [], words: 0 };
  const known = before?.streak ? before : undefined;
  return {
    ...compared,
    streak: Math.min((before?.streak ?? 0) + 1, MAX_STREAK),
    differed: before?.differed ?? false,
    kinds: [...new Set([...kinds, ...(known?.kinds ?? [])])].slice(0, 2 * MAX_ELEMENT_KINDS),
    words: known ? Math.min(known.words, words) : words,
  };
}

const nameOf = (url: string, { code }: Template): string =>
  createHash('sha256').update(siteOf(url)).update('\0').update(code).digest().subarray(0, 16).toString('base64url');

/**
 * Host and section of a URL. The section is the first folder of the path, `*` for a page outside any folder, or `#` for
 * a folder that is a number or an identifier.
 */
export function siteOf(url: string): string {
  const { host, pathname } = new URL(url);
  const [section, ...rest] = pathname.split('/').filter(Boolean);
  if (section === undefined) return `${host}/`;
  if (!rest.length && !pathname.endsWith('/')) return `${host}/*`;
  const isCode = section.length > 40 || /^[\d_.-]+$/.test(section) || /^(?=.*\d)[0-9a-f-]{8,}$/i.test(section);
  return `${host}/${isCode ? '#' : section.toLowerCase()}/`;
}
