/** Cleans the output of a model, so that it can be returned to the caller. Pure; runs in a thread. */
import { decodeHTML } from 'entities';
import { withoutControlCharacters } from '../markdown/one-line.ts';
import { isSafeLink, isSafePicture } from '../markdown/url.ts';
import { withoutTags } from './tags.ts';

/**
 * Reasoning models start with their thoughts; if the output was truncated during the thoughts, it contains no result.
 */
const THOUGHTS = /^\s*<think>[\s\S]*?(?:<\/think>|$)/;

/** The text of a model's output without thoughts, and without the code fence that many models put around it. */
export function unwrapOutput(text: string): string {
  const answer = text.replace(THOUGHTS, '').trim();
  const opened = /^(`{3,}|~{3,})[ \t]*(?:markdown|md|json)?[ \t]*\n/i.exec(answer);
  if (!opened) return answer;
  const fence = opened[1]!;
  const inner = answer.slice(opened[0].length);
  if (inner !== fence && !inner.endsWith(`\n${fence}`)) return answer;
  const body = inner.slice(0, -fence.length);
  // A closing fence inside the text means that there are two code blocks rather than a wrapper.
  return `\n${body}`.includes(`\n${fence}\n`) ? answer : body.trim();
}

/**
 * Makes Markdown from a model safe: removes control characters (U+001D separates chunks) and imitated citations
 * everywhere; outside code, also removes tags and unsafe URLs in links, images, definitions and autolinks.
 */
export function cleanMarkdown(text: string): string {
  const lines = withoutControlCharacters(unwrapOutput(text))
    .replace(/\r\n?/g, '\n')
    .replace(/【(?=\d+†)/g, '〖')
    .split('\n');
  const out: string[] = [];
  let prose: string[] = [];
  let fence: Fence | undefined;
  const endProse = () => {
    if (prose.length) for (const line of withoutUnsafeUrls(prose.join('\n')).split('\n')) out.push(withoutTags(line));
    prose = [];
  };
  for (const line of lines) {
    const [, prefix = '', mark] = FENCE.exec(line) ?? [];
    if (fence) {
      // A line with less indentation ends the list or quote around the code block, so the line is not code.
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
  // With this much indentation, the line is either a code block in a list or not a code block at all, so the block is
  // still open.
  if (fence && /\t| {4}/.test(fence.prefix))
    return [...out.slice(0, fence.from), ...out.slice(fence.from).map(withoutTags)].join('\n');
  return out.join('\n');
}

interface Fence {
  /** The prefix of the fence: white space and quote marks. */
  readonly prefix: string;
  readonly mark: string;
  /** Index of the line after the block. */
  readonly from: number;
}

const FENCE = /^([ \t>]*)(`{3,}(?=[^`]*$)|~{3,})/;

const DEFINITION = /^( {0,3}\[[^\]\n]{1,999}\]:\s*)<?([^\s>]+).*$/gm;
const AUTOLINK = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/gi;
const HTML_URL = /\b(href|src|action|formaction|data|poster)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi;

const withoutUnsafeUrls = (text: string): string =>
  withoutUnsafeLinks(text)
    .replace(DEFINITION, (found, _, url: string) => (isSafe(url, isSafeLink) ? found : ''))
    .replace(AUTOLINK, (found, url: string) => (isSafe(url, isSafeLink) ? found : url))
    .replace(HTML_URL, (found, name: string, url: string) =>
      isSafe(url.replace(/^["']|["']$/g, ''), name === 'src' ? isSafePicture : isSafeLink) ? found : `${name}=""`,
    );

/** Tests a URL after resolving its character references and escapes. */
const isSafe = (written: string, test: (url: string) => boolean): boolean =>
  test(decodeHTML(written.slice(0, 512)).replace(/\\([!-/:-@[-`{-~])/g, '$1'));

/** Maximum distance to the end of a link, in characters. */
const MAX_LINK_CHARACTERS = 4_000;

/** Removes inline links and images with unsafe URLs; only the text in brackets remains. */
function withoutUnsafeLinks(text: string): string {
  let out = '';
  let done = 0;
  for (let at = text.indexOf(']('); at >= 0; at = text.indexOf('](', Math.max(at + 2, done))) {
    const destination = /\s{0,64}<?([^\s<>]{0,512})/y;
    destination.lastIndex = at + 2;
    const url = destination.exec(text)?.[1] ?? '';
    // `![` and `[` are not distinguished: an image with a URL that is allowed only in links is harmless here.
    if (isSafe(url, isSafeLink) || isSafe(url, isSafePicture)) continue;
    const end = endOfLink(text, at + 2);
    out += end < 0 ? `${text.slice(done, at + 1)}\\(` : text.slice(done, at + 1);
    done = end < 0 ? at + 2 : end;
  }
  return out + text.slice(done);
}

/** Offset after the closing bracket of a link with a URL that starts at `from`; -1 if there is none. */
function endOfLink(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < Math.min(text.length, from + MAX_LINK_CHARACTERS); at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return -1;
}
