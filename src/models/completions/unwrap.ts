/** Removes wrapping that models add to the requested text: thoughts before it and a code fence around it. */

const THOUGHTS = /^\s*<think>[\s\S]*?<\/think>\s*/;
const FENCE = /^\s*```[ \t]*(?:markdown|md|html|text|plaintext)?[ \t]*\n/i;
/** Maximum length of a fence's opening line. It is short; thoughts may be long. */
const LONGEST_FENCE = 40;
/** Length of a closing fence with the white space around it. */
const TAIL = 16;

/** Yields the pieces without wrapping. The start and end are buffered until it is clear whether they are wrapping. */
export async function* unwrap(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  let started = false;
  let fenced = false;
  for await (const piece of pieces) {
    held += piece;
    if (!started) {
      if (isUndecided(held)) continue;
      const body: string = fenced ? held : held.replace(THOUGHTS, '');
      const isFence: boolean = !fenced && FENCE.test(body);
      fenced ||= isFence;
      held = (isFence ? body.replace(FENCE, '') : body).replace(/^\s+/, '');
      started = held !== '';
      if (!started) continue;
    }
    const ready = held.slice(0, Math.max(0, held.length - TAIL));
    if (ready !== '') yield ready;
    held = held.slice(ready.length);
  }
  if (!started) {
    // The response ended early: remove the thoughts found so far.
    held = held.replace(THOUGHTS, '').replace(/^\s*<think>[\s\S]*$/, '');
  }
  const end = (fenced ? held.replace(/\n?```\s*$/, '') : held).trimEnd();
  if (end !== '') yield end;
}

/** True if the text so far may still turn out to be thoughts or a fence. */
function isUndecided(text: string): boolean {
  const start = text.trimStart();
  if ('<think>'.startsWith(start) || '```'.startsWith(start)) return true;
  if (start.startsWith('<think>')) {
    const end = start.indexOf('</think>');
    return end < 0 || isUndecided(start.slice(end + '</think>'.length));
  }
  return start.startsWith('```') && start.length < LONGEST_FENCE && !start.includes('\n');
}
