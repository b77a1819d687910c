/** The client IP of a request, including internal requests that this process sends on behalf of a client. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

const callers = new WeakMap<IncomingMessage, string>();

/** Sets the client IP of an internal request. Must not be used for requests that come from outside this process. */
export const setClientIp = (request: IncomingMessage, address: string): void => void callers.set(request, address);

/** The client IP, used for the rate limits of callers without a key. */
export const clientIpOf = (request: FastifyRequest): string => callers.get(request.raw) ?? request.ip ?? '';
