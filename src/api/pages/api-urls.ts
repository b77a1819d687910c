/** The URLs of this server's APIs as the caller's browser reaches them, and the policy of pages that send requests there. */
import type { FastifyRequest } from 'fastify';
import type { ApiUrls } from './playground-types.ts';

export interface ApiUrlOptions {
  /** The ports of the APIs; 0 for an API without a port. */
  readonly ports: () => Readonly<Record<'reader' | 'search' | 'model' | 'compat' | 'flow', number>>;
  /** The URL of the reader as callers see it. Default: the host of each request. */
  readonly publicUrl?: string | undefined;
}

/** The Content-Security-Policy of a page that sends requests to all APIs and loads nothing else. */
export const policyFor = ({ search, models, compat, flow }: ApiUrls): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", search, models, compat, flow].filter(Boolean).join(' '),
    // Fetched HTML is written into a sandboxed frame. No frame ever loads a URL.
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A Host header that is safe to repeat in a response header. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Distances of the default ports from the reader's, for a container that maps a row of ports to another one. */
const OFFSETS = { search: 1, models: 2, flow: 3, compat: 6 } as const;

/**
 * If all APIs share one port: `s.`, `api.`, `compat.` and `flow.` in place of `r.`. With separate ports: those ports, or
 * the ports at the same distance from the reader's port if a container maps it to another one.
 */
export function apiUrlsOf(request: FastifyRequest, { publicUrl, ports }: ApiUrlOptions): ApiUrls {
  const given = request.headers.host ?? '';
  const host = PLAIN_HOST.test(given) ? given : 'localhost';
  const reader = new URL(publicUrl ?? `${request.protocol}://${host}`);
  const base = { reader: reader.origin };
  const open = ports();
  const localPort = request.raw.socket.localPort;
  if (reader.hostname.startsWith('r.') && (publicUrl !== undefined || localPort !== open.reader)) {
    const sibling = (label: string) => siblingOf(reader, label);
    return {
      ...base,
      ...{ search: sibling('s.'), models: sibling('api.'), compat: sibling('compat.'), flow: sibling('flow.') },
    };
  }
  if (reader.protocol !== 'http:' || reader.port === '') {
    return { ...base, search: null, models: null, compat: null, flow: null };
  }
  const port = Number(reader.port);
  const at = (number: number) => withPort(reader, number);
  if (port === open.reader || localPort !== open.reader) {
    return { ...base, search: at(open.search), models: at(open.model), compat: at(open.compat), flow: at(open.flow) };
  }
  return {
    ...base,
    search: at(port + OFFSETS.search),
    models: at(port + OFFSETS.models),
    compat: at(port + OFFSETS.compat),
    flow: at(port + OFFSETS.flow),
  };
}

const siblingOf = (reader: URL, label: string): string =>
  new URL(`${reader.protocol}//${reader.host.replace(/^r\./, label)}`).origin;

const withPort = ({ protocol, hostname }: URL, port: number): string | null =>
  port > 0 && port < 65_536 ? `${protocol}//${hostname}:${port}` : null;
