/** Parses server-sent events (WHATWG HTML, section 9.2) in the form in which this server writes them. */

export interface StreamEvent {
  /** `message` if the stream specifies no name. */
  readonly event: string;
  readonly data: string;
}

/** Yields events as they arrive; chunks may end anywhere. */
export async function* readEvents(bytes: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = bytes.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let event = '';
  let data: string[] = [];
  // Parts of an incomplete line. They are joined once the line is complete, to avoid copying a long event with each
  // chunk.
  let pending: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = value.split('\n');
      for (const [index, piece] of lines.entries()) {
        pending.push(piece);
        if (index === lines.length - 1) continue;
        const line = pending.join('');
        pending = [];
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
          event = '';
          data = [];
        } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
        else if (line.startsWith('event:')) event = line.slice(6).trim();
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
