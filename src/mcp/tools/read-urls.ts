import * as z from 'zod';
import { countTokens, loadTokens } from '#reader/index.ts';
import { divideTokens } from '../budget.ts';
import { describeFailure, ToolError } from '../failures.ts';
import {
  COMMON_OPTIONS,
  excerptContent,
  fenceTokens,
  furtherOptionsBrief,
  normalizeUrl,
  type PageText,
  readOptions,
  readText,
} from '../reading.ts';
import { defineTool, maxTokens } from '../tool.ts';
import { shortSource } from '../untrusted-marks.ts';

const MAX_URLS = 20;
const CONCURRENCY = 5;
/** Minimum number of tokens per page. With fewer, the fence would use up the whole budget. */
const MIN_TOKENS_PER_PAGE = 400;

type Outcome = { readonly target: string; readonly text?: PageText; readonly failure?: string };

export const readUrls = defineTool({
  name: 'read_urls',
  title: 'Read several web pages',
  description: `Reads up to ${MAX_URLS} URLs concurrently, in order. They share \`max_tokens\`. For the rest of a long page, call read_url with the named offset.`,
  input: z.strictObject({
    urls: z.array(z.string().min(1)).min(1).max(MAX_URLS),
    max_tokens: maxTokens(),
    ...COMMON_OPTIONS,
    options: furtherOptionsBrief,
  }),
  openWorld: true,
  steps: ({ urls }) => urls.length,
  progressMessage: ({ urls }) => `Reading ${urls.length} pages`,
  async run({ urls, max_tokens: tokens, ...given }, call) {
    const targets = urls.map((url, at) => normalizeUrl(url, `urls[${at}]`));
    const least = urls.length * MIN_TOKENS_PER_PAGE;
    if (tokens < least)
      throw new ToolError(`max_tokens: ${urls.length} pages need at least ${least}; read fewer pages or raise it.`);
    const options = readOptions(given);
    const outcomes = await mapConcurrently(targets, CONCURRENCY, async (target): Promise<Outcome> => {
      const outcome = await readText(call, target, options, { name: target, offset: 0 }).then(
        (text) => ({ target, text }),
        (error: unknown) => {
          const failure = call.signal.aborted ? undefined : describeFailure(error);
          if (failure === undefined) throw error;
          return { target, failure: `${shortSource(target)} could not be read. ${failure}` };
        },
      );
      call.progress.done(target);
      return outcome;
    });
    await loadTokens();
    const claims = outcomes.map(({ target, text, failure = '' }) =>
      text
        ? { text: text.text, overheadTokens: fenceTokens(target) }
        : { text: '', overheadTokens: countTokens(failure) + NUMBERING_TOKENS },
    );
    const shares = divideTokens(claims, tokens);
    const parts = await Promise.all(
      outcomes.map(async ({ target, text, failure }, at) => {
        const number = `[${at + 1}/${urls.length}]`;
        if (!text) return [{ type: 'text' as const, text: `${number} ${failure}` }];
        const [first, ...links] = await excerptContent(text, target, { offset: 0, tokens: shares[at]! });
        return [{ ...first, text: `${number} ${first.text}` }, ...links];
      }),
    );
    const content = parts.flat();
    return { content, ...(outcomes.every(({ text }) => !text) && { isError: true }) };
  },
});

/** Number of tokens in `[20/20] `. */
const NUMBERING_TOKENS = 8;

/** Maps a list with at most `atOnce` concurrent calls. Rejects with the first failure. */
async function mapConcurrently<T, R>(list: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(list.length);
  const entries = list.entries();
  const worker = async () => {
    for (const [at, item] of entries) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}
