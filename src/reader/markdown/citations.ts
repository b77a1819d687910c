/** Links as numbered citations, `【id†text】` or `【id†text†domain】`: the form that gpt-oss models were taught (contract, 6.3). */

/** The host of an address with its port, '' when it has none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

export interface Citation {
  readonly open: string;
  readonly close: string;
}

/** What stands before and after the text; the domain is told when it is not the page's own. */
export function citation(id: number, url: string, pageHost: string): Citation {
  const host = hostOf(url);
  return { open: `【${id}†`, close: host === '' || host === pageHost ? '】' : `†${host}】` };
}

const MARKS = /[【】†◼\u200b]/;
const ALL_MARKS = /[【】†◼\u200b]/g;
const LOOKALIKES: Readonly<Record<string, string>> = { '【': '〖', '】': '〗', '†': '‡', '◼': '◾', '\u200b': '' };

/** Page text that can't be taken for a citation of ours. */
export const withoutCitationMarks = (text: string): string =>
  MARKS.test(text) ? text.replace(ALL_MARKS, (mark) => LOOKALIKES[mark]!) : text;
