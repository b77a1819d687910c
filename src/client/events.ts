/**
 * Parses response streams: lines, and server-sent events (HTML standard, section 9.2.6). Chunks may end anywhere, even
 * within a character or between CR and LF, and lines may be very long.
 */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Yields lines without line ends, including an unterminated last line. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let afterReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (!text) continue;
    if (afterReturn && text[0] === '\n') text = text.slice(1);
    afterReturn = text.endsWith('\r');
    let from = 0;
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      pieces.push(text.slice(from, index));
      yield pieces.join('');
      pieces = [];
      from = index + end.length;
    }
    if (from < text.length) pieces.push(text.slice(from));
  }
  const rest = pieces.join('') + decoder.decode();
  if (rest) yield rest;
}

/** Yields events. `onCut` creates the error for a stream that ends within an event. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>, onCut: () => Error): AsyncGenerator<ServerEvent> {
  let event = '';
  let data: string[] = [];
  let open = false;
  for await (const line of linesOf(chunks)) {
    if (!line) {
      if (data.length) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
      open = false;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    open = true;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  if (open) throw onCut();
}

/** Yields the chunks of a body. Leaving the loop cancels the body, so that the server stops working. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      yield value;
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}
