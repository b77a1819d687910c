/** The warnings in a response. Clients match these lines, so never change their wording. */
import { STATUS_CODES } from 'node:http';
import type { Article } from './article.ts';
import { GENERIC } from './blocked/blocked.ts';
import type { InvisibleParts } from './extract/visibility/invisible-parts.ts';
import type { UnmatchedSelectors } from './selectors.ts';
import type { Snapshot } from './snapshot.ts';

/** Only results shorter than this have the warnings that explain why a result may be short. */
const SHORT_TOKENS = 200;

export const CAPTCHA_MARKUP =
  /g-recaptcha|h-captcha|cf-turnstile|recaptcha\/api|hcaptcha\.com|challenges\.cloudflare\.com|captcha-delivery/i;

/** `keptAt` in milliseconds since 1970. */
export const staleWarning = (keptAt: number): string =>
  `This page could not be read now, this is a copy of ${new Date(keptAt).toISOString()}.`;

/** The line about a stale copy among the warnings of a page; `undefined` if there is none. */
export const findStaleWarning = (warning: string | undefined): string | undefined =>
  warning && STALE.exec(warning)?.[0];
const STALE = /^This page could not be read now, this is a copy of \S+$/m;
/** Maximum number of characters of the caller's selectors that are quoted in a warning. */
const MAX_SELECTOR_CHARACTERS = 300;
const MAX_REPLACEMENTS_COUNTED = 1_000;

/** Counts replacement characters, which stand for bytes that could not be decoded. */
function countReplacements(text: string): number {
  let count = 0;
  for (
    let at = text.indexOf('\ufffd');
    at >= 0 && count < MAX_REPLACEMENTS_COUNTED;
    at = text.indexOf('\ufffd', at + 1)
  )
    count++;
  return count;
}

/** Says that the page is not the content. Clients match on its start. */
function blockedWarning({ blocked, tried, engine }: Snapshot): string | undefined {
  if (!blocked) return undefined;
  const by = blocked.by === GENERIC ? '' : ` by ${blocked.by}`;
  const steps = tried ?? (engine === 'given' ? [] : [engine]);
  const attempts = steps.length > 0 ? `; tried: ${steps.join(', ')}` : '';
  return `Blocked: ${blocked.kind}${by}. This is not the content of the page${attempts}.`;
}

interface WarningFacts {
  /** `undefined` if the result has no Markdown. */
  readonly contentTokens: number | undefined;
  /** Whether the result contains the text of the page; `hasHtml`: its HTML. */
  readonly hasText?: boolean;
  readonly hasHtml?: boolean;
  /** Number of invisible pieces that were removed and are worth a warning. */
  readonly hiddenCount: number;
  /** Absent if a model wrote the result. */
  readonly invisibleParts?: Pick<InvisibleParts, 'hiddenKept' | 'stylesComplete' | 'lastResort'>;
  /** Whether the whole page was parsed. */
  readonly complete: boolean;
  readonly source: Article['source'];
  /** Text that was left out of the container of the content, if it is much. */
  readonly leftOut?: Article['leftOut'];
  /** Whether the page seems to depend on scripts that were not run. */
  readonly waits: boolean;
  /** Whether the page is a frameset with frames that were not read. */
  readonly framesUnread?: boolean;
  /** The caller's selectors that matched nothing. */
  readonly unmatched?: UnmatchedSelectors;
  /** Whether the result is plain text because the page is too large or too deep for Markdown. */
  readonly tooMuch?: boolean;
  /** Token limit at which the result was truncated; `undefined` if it was not truncated. */
  readonly cutAt?: number | undefined;
  /** Number of pictures of a document that are missing although images were requested. */
  readonly picturesLeftOut?: number | undefined;
  /** Lines about options that had no effect. */
  readonly unused?: readonly string[];
}

function leftOutWarning({ words, comments }: NonNullable<Article['leftOut']>): string {
  const [share, advice] =
    comments > 0 ? [`, ${comments} of them in comments`, ', `comments: keep` returns comments'] : ['', ''];
  return `${words} words next to the content of this page were left out${share}: \`explain\` lists them${advice}.`;
}

export const truncationWarning = (tokens: number): string =>
  `This answer was cut after ${tokens} tokens (maxTokens), the rest was left out.`;

/**
 * The warnings of a snapshot: first those in docs/reference/wire/reader.md, Warnings, in that order, then further ones.
 */
export function warningsFor(snapshot: Snapshot, facts: WarningFacts): string[] {
  const {
    contentTokens,
    complete,
    source,
    waits,
    framesUnread,
    unmatched,
    tooMuch,
    leftOut,
    cutAt,
    picturesLeftOut = 0,
    unused = [],
  } = facts;
  const lines: string[] = [];
  const { status, statusText } = snapshot;
  if (status < 200 || status >= 400) {
    // The status text of the target, reduced to printable ASCII (RFC 9112, section 4).
    const own = statusText
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
      .slice(0, 100);
    const reason = own || STATUS_CODES[status];
    lines.push(`Target URL returned error ${status}${reason ? `: ${reason}` : ''}`);
  }
  const blocked = blockedWarning(snapshot);
  if (blocked) lines.push(blocked);
  if (contentTokens !== undefined && contentTokens < SHORT_TOKENS) {
    if (!snapshot.settled) {
      lines.push('This page maybe not yet fully loaded, consider explicitly specify a timeout.');
    }
    if (snapshot.hiddenFrames) {
      lines.push('This page contains iframe that are currently hidden, consider enabling iframe processing.');
    }
    if (snapshot.hiddenShadow) {
      lines.push('This page contains shadow DOM that are currently hidden, consider enabling shadow DOM processing.');
    }
    if (CAPTCHA_MARKUP.test(snapshot.text)) {
      lines.push('This page maybe requiring CAPTCHA, please make sure you are authorized to access this page.');
    }
    if (snapshot.cachedAt !== undefined) {
      lines.push('This is a cached snapshot of the original page, consider retry with caching opt-out.');
    }
  }
  lines.push(...hiddenWarnings(facts));
  if (contentTokens !== undefined && (source === 'nothing' || source === 'head')) {
    lines.push(
      'This page shows no content of its own without its scripts, consider reading it with the browser engine.',
    );
  } else if (waits) {
    lines.push(
      'The scripts of this page were not run and its content may be made by them, consider reading it with the browser engine.',
    );
  }
  if (framesUnread) {
    lines.push('This page is a set of frames that were not read, consider reading it with the browser engine.');
  }
  if (snapshot.stale && snapshot.cachedAt !== undefined) lines.push(staleWarning(snapshot.cachedAt));
  if (!complete) lines.push('This page has more elements than can be read, the rest was left out.');
  if (complete && tooMuch) {
    lines.push('This page has too many elements, or too deep ones, for Markdown: this is its text.');
  }
  if (contentTokens !== undefined && leftOut) lines.push(leftOutWarning(leftOut));
  if (cutAt !== undefined) lines.push(truncationWarning(cutAt));
  for (const name of ['targetSelector', 'removeSelector'] as const) {
    if (unmatched?.[name].length)
      lines.push(
        `${name} matched nothing on this page: ${unmatched[name].join(', ').slice(0, MAX_SELECTOR_CHARACTERS)}`,
      );
  }
  const lost = countReplacements(snapshot.text);
  if (lost > 0) {
    const [letters, could] = lost === 1 ? ['character', 'it stands'] : ['characters', 'they stand'];
    lines.push(`${lost} ${letters} of this page could not be decoded, ${could} as \ufffd.`);
  }
  if (contentTokens !== undefined && picturesLeftOut > 0) lines.push(picturesWarning(picturesLeftOut));
  lines.push(...unused, ...snapshot.notes);
  return lines;
}

function picturesWarning(count: number): string {
  const [pictures, were] = count === 1 ? ['picture', 'was'] : ['pictures', 'were'];
  return `${count} ${pictures} of this document ${were} left out: too large, too many, or in a format that browsers do not show.`;
}

/** Where the text of a page that shows none was taken from. */
const LAST_RESORTS = {
  'hidden text': 'Its hidden text was kept, which a person may not see.',
  'linked data': 'Its text was taken from its linked data (JSON-LD), which a person may not see.',
  'script data': 'Its text was taken from the data of its scripts, which a person may not see.',
} as const;

/** Warnings about invisible text: how much was removed, and why some may remain. */
function hiddenWarnings({ contentTokens, hasText, hasHtml, hiddenCount, invisibleParts }: WarningFacts): string[] {
  const lines: string[] = [];
  const isRead = contentTokens !== undefined || hasText;
  const [pieces, were] = hiddenCount === 1 ? ['piece', 'it was'] : ['pieces', 'they were'];
  if (isRead && hiddenCount > 0) {
    lines.push(`This page contains ${hiddenCount} ${pieces} that a person cannot see, ${were} left out.`);
  }
  if (hasHtml && hiddenCount > 0) {
    lines.push(`The HTML of this page contains ${hiddenCount} ${pieces} that a person cannot see.`);
  }
  if (isRead && invisibleParts?.hiddenKept) {
    lines.push('Most of the text of this page is hidden by its styles and was kept, since its scripts may show it.');
  }
  const lastResort = invisibleParts?.lastResort;
  if (isRead && lastResort) lines.push(`This page shows next to no text. ${LAST_RESORTS[lastResort]}`);
  if (isRead && invisibleParts?.stylesComplete === false) {
    lines.push('This page has more style rules than can be applied, so it may contain text that a person cannot see.');
  }
  return lines;
}
