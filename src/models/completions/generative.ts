/** An engine for models behind the OpenAI chat protocol: transcribes pages, answers questions about them, or chats. */
import type { Chat, ChatMessage, ChatPart, ChatUsage } from '../generate.ts';
import { mapConcurrently } from '../media/map-concurrently.ts';
import type { Engine, EngineRequest, Piece } from './engine.ts';
import type { Page, Picture } from './media.ts';
import { isTranscription, pagePrompt } from './prompts.ts';
import type { Message } from './request.ts';
import { unwrap } from './unwrap.ts';
import { WRITERS } from './write.ts';

/** Number of pages of one question that are rendered at the same time. */
const DRAWN_AT_ONCE = 4;

export interface GenerativeOptions {
  readonly id: string;
  readonly chat: Chat;
  readonly description: string;
  /** Replaces the built-in prompt for pages. */
  readonly prompt?: string | undefined;
}

export function createGenerativeEngine({ id, chat, description, prompt }: GenerativeOptions): Engine {
  /** Sends one question to the server, and streams if the caller streams. */
  async function* asked(
    messages: readonly ChatMessage[],
    { request, signal }: EngineRequest,
    left: number | undefined,
  ) {
    const { sampling, stop } = request;
    const question = { messages, maxTokens: left, sampling: { ...sampling, ...(stop.length > 0 && { stop }) }, signal };
    if (request.stream) yield* chat.stream(question);
    else {
      const { text, ...end } = await chat.complete(question);
      yield { text };
      yield { text: '' as const, end };
    }
  }

  /** Transcribes each page with its own request, because models perform poorly on many images at once. */
  async function* transcribed(pages: readonly Page[], ask: EngineRequest): AsyncGenerator<Piece> {
    const { request, signal, onDrawn } = ask;
    const { between } = WRITERS[request.form];
    const instruction = request.question.trim() || pagePrompt(id, request.form, prompt);
    const sum = createSum();
    for (const [index, page] of pages.entries()) {
      if (index > 0) yield { text: between };
      const picture = await page.renderForModel(signal);
      onDrawn(picture);
      const left = request.maxTokens === undefined ? undefined : Math.max(1, request.maxTokens - sum.completionTokens);
      let complete = true;
      const answer = asked([{ role: 'user', content: contentOf(instruction, [picture]) }], ask, left);
      async function* texts() {
        for await (const piece of answer) {
          if ('end' in piece) {
            complete = piece.end.complete;
            sum.add(piece.end.usage);
          } else yield piece.text;
        }
      }
      for await (const text of unwrap(texts())) yield { text };
      if (!complete) return yield { text: '', end: { complete, usage: sum.total() } };
    }
    yield { text: '', end: { complete: true, usage: sum.total() } };
  }

  async function* answered(pages: readonly Page[], ask: EngineRequest): AsyncGenerator<Piece> {
    const pictures = await mapConcurrently(pages, { atOnce: DRAWN_AT_ONCE, signal: ask.signal }, (page, stop) =>
      page.renderForModel(stop),
    );
    for (const picture of pictures) ask.onDrawn(picture);
    yield* asked([{ role: 'user', content: contentOf(ask.request.question, pictures) }], ask, ask.request.maxTokens);
  }

  return {
    id,
    description,
    forms: ['markdown', 'text', 'html'],
    chats: true,
    generates: true,
    contextTokens: 0,
    read: (pages, ask) => (isTranscription(ask.request.question) ? transcribed(pages, ask) : answered(pages, ask)),
    chat: (ask) => asked(ask.request.messages.map(messageOf), ask, ask.request.maxTokens),
  };
}

/** `developer` is an OpenAI role; other servers call it `system`. */
const messageOf = ({ role, text }: Message): ChatMessage => ({
  role: role === 'developer' ? 'system' : role,
  content: text,
});

/** Omits the text part if it is empty, because some models are trained without a prompt. */
function contentOf(instruction: string, pictures: readonly Picture[]): ChatPart[] {
  const shown = pictures.map(({ bytes }): ChatPart => {
    const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    return { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } };
  });
  return instruction === '' ? shown : [{ type: 'text', text: instruction }, ...shown];
}

/** Adds up the usage reported by servers. The sum is undefined if any of them reports none. */
function createSum() {
  let prompt = 0;
  let completion = 0;
  let isWhole = true;
  return {
    add(usage: ChatUsage | undefined) {
      if (!usage) isWhole = false;
      prompt += usage?.promptTokens ?? 0;
      completion += usage?.completionTokens ?? 0;
    },
    get completionTokens() {
      return completion;
    },
    total: (): ChatUsage | undefined => (isWhole ? { promptTokens: prompt, completionTokens: completion } : undefined),
  };
}
