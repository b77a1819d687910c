/** Extracts the HTML from RTF that was made from HTML (MS-OXRTFEX). */
import { charsetOfPage } from '../office/rtf/charsets.ts';
import { readTokens } from '../office/rtf/tokens.ts';

/** Whether the RTF contains HTML. */
export const containsHtml = (rtf: Uint8Array): boolean =>
  Buffer.from(rtf.buffer, rtf.byteOffset, Math.min(rtf.byteLength, 1_024)).includes('\\fromhtml1');

interface Group {
  /** Inside `\*\htmltag`, whose content is HTML. */
  isTag: boolean;
  /** Text between `\htmlrtf` and `\htmlrtf0` is only for RTF. */
  isOnlyRtf: boolean;
  /** Destinations other than `\*\htmltag` have no HTML. */
  isSkipped: boolean;
}

const SKIPPED: ReadonlySet<string> = new Set(['fonttbl', 'colortbl', 'stylesheet', 'info', 'pict', 'object']);
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['par', '\r\n'],
  ['line', '\r\n'],
  ['tab', '\t'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['bullet', '•'],
  ['endash', '–'],
  ['emdash', '—'],
  ['~', '\u00a0'],
  ['_', '\u00ad'],
  ['{', '{'],
  ['}', '}'],
  ['\\', '\\'],
]);

export function htmlInRtf(rtf: Uint8Array): string {
  const groups: Group[] = [];
  let group: Group = { isTag: false, isOnlyRtf: false, isSkipped: false };
  let charset = charsetOfPage(1252);
  let out = '';
  let pending: number[] = [];
  let isStarred = false;
  let replacement = 1;
  let left = 0;
  const flush = () => {
    if (pending.length > 0) out += charset.decode(Uint8Array.from(pending));
    pending = [];
  };
  const shows = () => !group.isSkipped && !group.isOnlyRtf;
  const byte = (value: number) => {
    if (left > 0) left--;
    else if (shows()) pending.push(value);
  };
  const write = (text: string) => {
    flush();
    if (shows()) out += text;
  };
  readTokens(rtf, {
    open() {
      groups.push(group);
      group = { ...group };
      isStarred = false;
    },
    close() {
      flush();
      group = groups.pop() ?? group;
    },
    byte,
    text(start, end) {
      for (let at = start; at < end; at++) byte(rtf[at]!);
    },
    control(word, parameter) {
      if (word === '*') isStarred = true;
      else if (word === 'htmltag') group.isTag = true;
      else if (isStarred || SKIPPED.has(word)) group.isSkipped = true;
      else if (word === 'htmlrtf') {
        flush();
        group.isOnlyRtf = parameter !== 0;
      } else if (word === 'ansicpg' && parameter !== undefined) charset = charsetOfPage(parameter);
      else if (word === 'uc') replacement = Math.max(0, Math.min(parameter ?? 1, 10));
      else if (word === 'u' && parameter !== undefined) {
        write(String.fromCharCode(parameter & 0xffff));
        left = replacement;
      } else {
        const sign = SIGNS.get(word);
        // In a tag, line ends are part of the RTF.
        if (sign !== undefined && !(group.isTag && word === 'par')) write(sign);
      }
      if (word !== '*') isStarred = false;
    },
  });
  flush();
  return out;
}
