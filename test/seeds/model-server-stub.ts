/** A model server on loopback that implements OpenAI's protocol. The text of a request determines the response. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Length of the vectors. */
export const DIMENSIONS = 8;

export interface ModelServer {
  /** Base URL, ending in `/v1`. */
  readonly url: string;
  /** Number of pending requests. */
  readonly held: () => number;
  /** Responds to all pending requests. */
  release(): void;
  close(): void;
}

/**
 * Texts: `hold` is answered after `release`, `status 503` with that status, and `uses 400 tokens` with that usage.
 * Every other text is answered immediately, with a usage of 3 tokens.
 */
export async function startModelServer(): Promise<ModelServer> {
  let waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const texts: string[] = body.messages
      ? body.messages.map(({ content }: { content: string }) => content)
      : body.input;
    const text = texts.join(' ');
    const status = Number(/status (\d+)/.exec(text)?.[1] ?? 200);
    const tokens = Number(/uses (\d+) tokens/.exec(text)?.[1] ?? 3);
    const answer = () => answerWith(response, status, body.messages ? completion(tokens) : embeddings(texts, tokens));
    if (text.includes('hold')) waiting.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const release = () => {
    for (const answer of waiting) answer();
    waiting = [];
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    held: () => waiting.length,
    release,
    close() {
      release();
      server.closeAllConnections();
      server.close();
    },
  };
}

function answerWith(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status === 200 ? body : { error: { message: 'secret of the model server' } }));
}

const completion = (tokens: number) => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens },
});

const embeddings = (texts: readonly string[], tokens: number) => ({
  object: 'list',
  data: texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: DIMENSIONS }, (_, at) => text.length + at),
  })),
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});
