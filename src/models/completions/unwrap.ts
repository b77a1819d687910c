/** What a model writes around the text that it was asked for: thoughts before it, a code fence around all of it. */

const THOUGHTS = /^\s*<think>[\s\S]*?<\/think>\s*/;
const FENCE = /^\s*```[ \t]*(?:markdown|md|html|text|plaintext)?[ \t]*\n/i;
/** Thoughts may be long; the line of a fence is not. */
const LONGEST_FENCE = 40;
/** Its end, with what white space there may be around it. */
const TAIL = 16;

/** The pieces of an answer without its wrapping; the beginning and the end are held back until it is plain what they are. */
export async function* unwrapped(pieces: AsyncIterable<string>): AsyncGenerator<string> {
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
    // It ended before it was plain: what it is now, it is.
    held = held.replace(THOUGHTS, '').replace(/^\s*<think>[\s\S]*$/, '');
  }
  const end = (fenced ? held.replace(/\n?```\s*$/, '') : held).trimEnd();
  if (end !== '') yield end;
}

/** Whether what has come so far may still become thoughts or a fence. */
function isUndecided(text: string): boolean {
  const start = text.trimStart();
  if ('<think>'.startsWith(start) || '```'.startsWith(start)) return true;
  if (start.startsWith('<think>')) {
    const end = start.indexOf('</think>');
    return end < 0 || isUndecided(start.slice(end + '</think>'.length));
  }
  return start.startsWith('```') && start.length < LONGEST_FENCE && !start.includes('\n');
}
