/**
 * Streams of an answer: lines, and server-sent events (HTML standard, section 9.2.6). Pieces come cut anywhere, within a
 * character or between CR and LF too, and a line may be as long as a whole book.
 */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** The lines of a body without their ends; what stands behind the last end is a line too. */
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

/** `onCut` makes the error for a stream that ends in the middle of an event. */
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

/** The chunks of a body; who stops reading cancels it, so that the server stops working. */
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
