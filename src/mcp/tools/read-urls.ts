import * as z from 'zod';
import { countTokens, loadTokens } from '#reader/index.ts';
import { sharesOf } from '../budget.ts';
import { failed, failureWords, ToolError } from '../failures.ts';
import { sourceWords } from '../fence.ts';
import {
  cleanAddress,
  OWN_OPTIONS,
  optionsAsThere,
  readOptions,
  readText,
  shown,
  type Text,
  wordsAround,
} from '../reading.ts';
import { defineTool, maxTokens, textResult } from '../tool.ts';

const MAX_URLS = 20;
const AT_ONCE = 5;
/** Tokens that a page must have, or there is nothing to see but our own words. */
const LEAST_EACH = 400;

type Outcome = { readonly address: string; readonly text?: Text; readonly failure?: string };

export const readUrls = defineTool({
  name: 'read_urls',
  title: 'Read several web pages',
  description: `Reads up to ${MAX_URLS} addresses at the same time and answers their contents in the same order. The tokens are shared out; a page that fails tells why and spoils no other. For the rest of a long page call read_url with the offset that is named.`,
  input: z.strictObject({
    urls: z.array(z.string().min(1)).min(1).max(MAX_URLS).describe('The http or https addresses to read.'),
    max_tokens: maxTokens(),
    ...OWN_OPTIONS,
    options: optionsAsThere,
  }),
  openWorld: true,
  parts: ({ urls }) => urls.length,
  doing: ({ urls }) => `Reading ${urls.length} pages`,
  async run({ urls, max_tokens: tokens, ...given }, call) {
    const addresses = urls.map((url, at) => cleanAddress(url, `urls[${at}]`));
    const least = urls.length * LEAST_EACH;
    if (tokens < least)
      throw new ToolError(`max_tokens: ${urls.length} pages need at least ${least}; read fewer at once.`);
    const options = readOptions(given);
    const outcomes = await inTurns(addresses, AT_ONCE, async (address): Promise<Outcome> => {
      const outcome = await readText(call, address, options, { name: address, offset: 0 }).then(
        (text) => ({ address, text }),
        (error: unknown) => {
          const failure = call.signal.aborted ? undefined : failureWords(error);
          if (failure === undefined) throw error;
          return { address, failure: `${sourceWords(address)} could not be read. ${failure}` };
        },
      );
      call.progress.done(address);
      return outcome;
    });
    await loadTokens();
    const sharers = outcomes.map(({ address, text, failure = '' }) =>
      text ? { text: text.text, around: wordsAround(address) } : { text: '', around: countTokens(failure) + NUMBER },
    );
    const shares = sharesOf(sharers, tokens);
    const parts = await Promise.all(
      outcomes.map(async ({ address, text, failure }, at) => {
        const said = text ? await shown(text, address, { offset: 0, tokens: shares[at]! }) : failure;
        return `[${at + 1}/${urls.length}] ${said}`;
      }),
    );
    return outcomes.some(({ text }) => text) ? textResult(...parts) : failed(parts.join('\n\n'));
  },
});

/** Tokens of `[20/20] `. */
const NUMBER = 8;

/** The results of all, in order; so many work at the same time. The first failure is that of all. */
async function inTurns<T, R>(list: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(list.length);
  const turns = list.entries();
  const worker = async () => {
    for (const [at, item] of turns) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}
