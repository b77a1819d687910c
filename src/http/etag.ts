/** Conditional responses: entity tags and 304 (RFC 9110, sections 8.8.3 and 13.1.2). */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The entity tag of a content. It is weak, because compressed forms of the content have the same tag. */
export const entityTag = (content: string | Uint8Array): string =>
  `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;

/** Whether the client already has the content, according to the If-None-Match header. */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return header.split(',').some((given) => given.trim().replace(/^W\//, '') === opaque);
}

/** Sends a content with its entity tag, or 304 to a client that already has it. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  content: string | Uint8Array,
  tag: string = entityTag(content),
): FastifyReply {
  reply.header('etag', tag);
  return isKnown(request.headers['if-none-match'], tag) ? sendNotModified(reply) : reply.send(content);
}

export function sendNotModified(reply: FastifyReply): FastifyReply {
  reply.removeHeader('content-type');
  return reply.code(304).send();
}

/** Computes the entity tag of each name once. For contents that do not change while the server runs. */
export function createTags(): (name: string, content: string) => string {
  const tags = new Map<string, string>();
  return (name, content) => {
    let tag = tags.get(name);
    if (tag === undefined) {
      tag = entityTag(content);
      tags.set(name, tag);
    }
    return tag;
  };
}
