/** What a caller should know about an answer. Clients match on these lines, so their words never change. */
import { STATUS_CODES } from 'node:http';
import type { Article } from './article.ts';
import type { Snapshot } from './snapshot.ts';

/** Only answers shorter than this are told why they may be short. */
const SHORT_TOKENS = 200;

export const CAPTCHA =
  /g-recaptcha|h-captcha|cf-turnstile|recaptcha\/api|hcaptcha\.com|challenges\.cloudflare\.com|captcha-delivery/i;

interface Told {
  /** Undefined when the answer has no Markdown. */
  readonly contentTokens: number | undefined;
  /** Pieces left out because nobody sees them. */
  readonly hiddenCount: number;
  /** Whether the whole page was looked at. */
  readonly complete: boolean;
  readonly source: Article['source'];
}

/** The lines for a snapshot, in the contract's order (section 6.5), then ours. */
export function warnings(snapshot: Snapshot, { contentTokens, hiddenCount, complete, source }: Told): string[] {
  const lines: string[] = [];
  const { status, statusText } = snapshot;
  if (status < 200 || status >= 400) {
    // The target’s own words, as far as they are plain ASCII (RFC 9112, section 4).
    const own = statusText
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
      .slice(0, 100);
    const reason = own || STATUS_CODES[status];
    lines.push(`Target URL returned error ${status}${reason ? `: ${reason}` : ''}`);
  }
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
    if (CAPTCHA.test(snapshot.text)) {
      lines.push('This page maybe requiring CAPTCHA, please make sure you are authorized to access this page.');
    }
    if (snapshot.cachedAt !== undefined) {
      lines.push('This is a cached snapshot of the original page, consider retry with caching opt-out.');
    }
  }
  if (contentTokens !== undefined && hiddenCount > 0) {
    const [pieces, were] = hiddenCount === 1 ? ['piece', 'it was'] : ['pieces', 'they were'];
    lines.push(`This page contains ${hiddenCount} ${pieces} that a person cannot see, ${were} left out.`);
  }
  if (contentTokens !== undefined && (source === 'nothing' || source === 'head')) {
    lines.push(
      'This page shows no content of its own without its scripts, consider reading it with the browser engine.',
    );
  }
  if (!complete) lines.push('This page has more elements than can be read, the rest was left out.');
  lines.push(...snapshot.notes);
  return lines;
}
