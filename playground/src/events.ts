/** Server-sent events out of a stream of text (WHATWG HTML, section 9.2), as this server writes them. */

export interface StreamEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Reads events as they come, whatever pieces the network makes of them. */
export async function* readEvents(bytes: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = bytes.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let event = '';
  let data: string[] = [];
  // Pieces of a line that has not ended: joined once, or a long event would be copied with each piece.
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
