/** Requests that a part of this process makes for somebody else: who that is counts, not who carries it. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

const callers = new WeakMap<IncomingMessage, string>();

/** Says for which address a request is made. Only for requests that nobody outside of this process can send. */
export const onBehalfOf = (request: IncomingMessage, address: string): void => void callers.set(request, address);

/** The address that a request comes from, by which callers without a key are limited. */
export const callerAddress = (request: FastifyRequest): string => callers.get(request.raw) ?? request.ip ?? '';
