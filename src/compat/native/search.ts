/** Searches for a dialect, as the search host does for a JSON response. */
import { prepareSearch } from '#api/search/search.ts';
import { Problem } from '#errors.ts';
import type { DetailLevel } from '#reader/index.ts';
import type { Answer } from '#search/index.ts';
import { showWarning } from '../ignored.ts';
import { addCost } from './cost.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

const NOTHING: Answer = { results: [], tokens: 0, providers: [] };

/**
 * Clients of other search APIs expect an empty list if nothing is found. Most of their formats have no place for the
 * reason, so a header has it.
 */
export async function runSearch(
  call: NativeCall,
  fields: GivenFields,
  parts: NativeParts,
  details?: DetailLevel,
): Promise<Answer> {
  const { request, reply } = call;
  const work = prepareSearch(request, reply, parts, {
    headers: {},
    query: {},
    body: { ...fields },
    kind: 'json',
    source: 'required',
  })!;
  try {
    const answer = await parts.search.last({ ...work, details });
    addCost(call, answer.tokens, work.options.modelFormat);
    showWarning(reply, { warning: answer.notice });
    return answer;
  } catch (error) {
    if (!(error instanceof Problem && error.name === 'AssertionFailureError')) throw error;
    showWarning(reply, { warning: error.message });
    return { ...NOTHING, notice: error.message };
  }
}
