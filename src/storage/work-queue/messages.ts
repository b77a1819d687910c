/** Encodes requests and answers as bytes. Large ones are attachments. */
import { deserialize, serialize } from 'node:v8';
import type { Attachments } from '#concurrency/remote-work.ts';
import { PROBLEMS, type Problem, type ProblemName, problem } from '#errors.ts';
import { INLINE_BYTES } from './attachments.ts';

/** The first byte of a message: the value, the name of an attachment with the value, a problem, or a lost request. */
type MessageKind = 'v' | 'a' | 'p' | 'l';

export interface Message {
  readonly bytes: Buffer;
  /** The attachment of a large value, which the receiver removes. */
  readonly attachment: string | undefined;
}

const message = (kind: MessageKind, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(kind), bytes]);

/** Throws what `put` throws. */
export async function encodeValue(value: unknown, attachments: Attachments): Promise<Message> {
  const bytes = serialize(value);
  if (bytes.byteLength <= INLINE_BYTES) return { bytes: message('v', bytes), attachment: undefined };
  const attachment = await attachments.put(bytes);
  return { bytes: message('a', Buffer.from(attachment)), attachment };
}

export function encodeProblem({ name, message: text, facts }: Problem): Buffer {
  return message('p', Buffer.from(JSON.stringify({ name, facts: { ...facts, message: text } })));
}

/** Returns the value of a message. Throws its problem, or ServiceAwayError if its attachment is missing. */
export async function decodeMessage(bytes: Buffer, attachments: Attachments): Promise<unknown> {
  const body = bytes.subarray(1);
  switch (String.fromCharCode(bytes[0]!) as MessageKind) {
    case 'v':
      return deserialize(body);
    case 'a': {
      const stored = await attachments.get(String(body));
      if (!stored) throw requestLost();
      return deserialize(stored);
    }
    case 'p': {
      const { name, facts } = JSON.parse(String(body)) as { name: ProblemName; facts: Problem['facts'] };
      throw problem(Object.hasOwn(PROBLEMS, name) ? name : 'InternalError', facts);
    }
    case 'l':
      throw problem('ServiceNodeResourceDrainError', {
        message: 'Two workers ended while they processed this request; try again later',
        retryAfter: 5,
      });
  }
}

/** The name of the attachment that a message refers to. */
export const attachmentOf = (bytes: Buffer): string | undefined =>
  bytes[0] === 'a'.charCodeAt(0) ? String(bytes.subarray(1)) : undefined;

export const requestLost = (): Problem =>
  problem('ServiceAwayError', { message: 'The queue of work for other machines lost this request', retryAfter: 1 });
