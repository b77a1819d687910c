/**
 * Links as numbered citations, `【id†text】` or `【id†text†domain】`: the format on which gpt-oss models were trained
 * (docs/reference/wire/reader.md, Links).
 */
import { isUrl } from '#is-url.ts';

/** The host of a URL with its port; '' if it has none. */
export function hostOf(url: string): string {
  return isUrl(url) ? new URL(url).host : '';
}

export interface Citation {
  readonly open: string;
  readonly close: string;
}

/** Returns the text before and after the label. The domain is included if it differs from that of the page. */
export function citation(id: number, url: string, pageHost: string): Citation {
  const host = hostOf(url);
  return { open: `【${id}†`, close: host === '' || host === pageHost ? '】' : `†${host}】` };
}

const MARKS = /[【】†◼\u200b]/;
const ALL_MARKS = /[【】†◼\u200b]/g;
const LOOKALIKES: Readonly<Record<string, string>> = { '【': '〖', '】': '〗', '†': '‡', '◼': '◾', '\u200b': '' };

/** Replaces characters in page text that could be mistaken for a citation. */
export const withoutCitationMarks = (text: string): string =>
  MARKS.test(text) ? text.replace(ALL_MARKS, (mark) => LOOKALIKES[mark]!) : text;
