/** What a model wrote, made fit to be an answer. Pure; it runs in a thread. */
import { decodeHTML } from 'entities';
import { withoutControls } from '../markdown/one-line.ts';
import { isSafeLink, isSafePicture } from '../markdown/url.ts';
import { withoutTags } from './tags.ts';

/** Models that think aloud do so first; one that was cut off while thinking has not answered. */
const THOUGHTS = /^\s*<think>[\s\S]*?(?:<\/think>|$)/;

/** The text of an answer: without thoughts, and without the fence that many models put around all they write. */
export function withoutWrapping(text: string): string {
  const answer = text.replace(THOUGHTS, '').trim();
  const opened = /^(`{3,}|~{3,})[ \t]*(?:markdown|md|json)?[ \t]*\n/i.exec(answer);
  if (!opened) return answer;
  const fence = opened[1]!;
  const inner = answer.slice(opened[0].length);
  if (inner !== fence && !inner.endsWith(`\n${fence}`)) return answer;
  const body = inner.slice(0, -fence.length);
  // A fence that stands alone inside ended the first block: these are two blocks and no wrapping.
  return `\n${body}`.includes(`\n${fence}\n`) ? answer : body.trim();
}

/**
 * Markdown as a model wrote it: no control characters (U+001D parts chunks), nothing that looks like a citation of
 * ours, and outside of code no tags and no address of an unsafe kind in a link, a picture, a definition or an autolink.
 */
export function cleanMarkdown(text: string): string {
  const lines = withoutControls(withoutWrapping(text))
    .replace(/\r\n?/g, '\n')
    .replace(/【(?=\d+†)/g, '〖')
    .split('\n');
  const out: string[] = [];
  let prose: string[] = [];
  let fence: Fence | undefined;
  const endProse = () => {
    if (prose.length)
      for (const line of withoutUnsafeAddresses(prose.join('\n')).split('\n')) out.push(withoutTags(line));
    prose = [];
  };
  for (const line of lines) {
    const [, prefix = '', mark] = FENCE.exec(line) ?? [];
    if (fence) {
      // What stands further left has left the list or the quote that the block is in, and is no code any more.
      const isInside = line.startsWith(fence.prefix) || line.trim() === '';
      out.push(isInside ? line : withoutTags(line));
      if (mark?.startsWith(fence.mark) && line.trimEnd().endsWith(mark)) fence = undefined;
    } else if (mark) {
      endProse();
      out.push(withoutTags(line));
      fence = { prefix, mark, from: out.length };
    } else prose.push(line);
  }
  endProse();
  // So far to the right it is a block of code in a list, or no block at all: then nothing has closed it.
  if (fence && /\t| {4}/.test(fence.prefix))
    return [...out.slice(0, fence.from), ...out.slice(fence.from).map(withoutTags)].join('\n');
  return out.join('\n');
}

interface Fence {
  /** What stands before its mark: spaces and signs of quotes. */
  readonly prefix: string;
  readonly mark: string;
  /** The line after it. */
  readonly from: number;
}

const FENCE = /^([ \t>]*)(`{3,}(?=[^`]*$)|~{3,})/;

const DEFINITION = /^( {0,3}\[[^\]\n]{1,999}\]:\s*)<?([^\s>]+).*$/gm;
const AUTOLINK = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/gi;
const HTML_ADDRESS = /\b(href|src|action|formaction|data|poster)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi;

const withoutUnsafeAddresses = (text: string): string =>
  withoutUnsafeLinks(text)
    .replace(DEFINITION, (found, _, url: string) => (isSafe(url, isSafeLink) ? found : ''))
    .replace(AUTOLINK, (found, url: string) => (isSafe(url, isSafeLink) ? found : url))
    .replace(HTML_ADDRESS, (found, name: string, url: string) =>
      isSafe(url.replace(/^["']|["']$/g, ''), name === 'src' ? isSafePicture : isSafeLink) ? found : `${name}=""`,
    );

/** An address means what it is once its references and escapes are read. */
const isSafe = (written: string, test: (url: string) => boolean): boolean =>
  test(decodeHTML(written.slice(0, 512)).replace(/\\([!-/:-@[-`{-~])/g, '$1'));

/** The longest destination and title of a link that is looked through for its end. */
const LONGEST_LINK = 4_000;

/** Links and pictures in line; of an unsafe one its text between brackets stays. */
function withoutUnsafeLinks(text: string): string {
  let out = '';
  let done = 0;
  for (let at = text.indexOf(']('); at >= 0; at = text.indexOf('](', Math.max(at + 2, done))) {
    const destination = /\s{0,64}<?([^\s<>]{0,512})/y;
    destination.lastIndex = at + 2;
    const url = destination.exec(text)?.[1] ?? '';
    // Whether `![` or `[` opened it is not looked for: what may be in a link but not in a picture does no harm there.
    if (isSafe(url, isSafeLink) || isSafe(url, isSafePicture)) continue;
    const end = endOfLink(text, at + 2);
    out += end < 0 ? `${text.slice(done, at + 1)}\\(` : text.slice(done, at + 1);
    done = end < 0 ? at + 2 : end;
  }
  return out + text.slice(done);
}

/** Past the bracket that closes a link whose destination starts at `from`; -1 when it is not to be found. */
function endOfLink(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < Math.min(text.length, from + LONGEST_LINK); at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return -1;
}
