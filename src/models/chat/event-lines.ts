/**
 * Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) from a byte stream and
 * yields their data.
 */

/** Yields the `data` of each event, with its lines joined. Also yields a last event without a closing blank line. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line !== '') {
      const value = dataOf(line);
      if (value !== undefined) data.push(value);
    } else if (data.length) {
      yield data.join('\n');
      data = [];
    }
  }
  if (data.length) yield data.join('\n');
}

/** The value of a `data` line; undefined for comments and other fields. */
function dataOf(line: string): string | undefined {
  if (line !== 'data' && !line.startsWith('data:')) return undefined;
  const value = line.slice('data:'.length);
  return value.startsWith(' ') ? value.slice(1) : value;
}

/**
 * Splits at CR LF, LF or CR. The parts of an incomplete line are collected and joined once, so that time stays linear.
 */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open: string[] = [];
  let endedByReturn = false;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    let from = endedByReturn && text[0] === '\n' ? 1 : 0;
    if (text) endedByReturn = text.endsWith('\r');
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      if (index < from) continue;
      open.push(text.slice(from, index));
      yield open.join('');
      open = [];
      from = index + end.length;
    }
    if (from < text.length) open.push(text.slice(from));
  }
  if (open.length) yield open.join('');
}
