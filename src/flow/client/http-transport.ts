/** Sends requests over HTTP to `/post`, or to the endpoint's own route if the gateway has no `/post` route. */
import { ownValue } from '#own-value.ts';
import { documentJson, readDocument } from '../json/index.ts';
import type { DataRequest, Status } from '../request.ts';
import { isObject, type JsonObject } from '../values.ts';
import { authorizationOf, hostAndPort, type Transport, type TransportTarget, unreachable } from './transport.ts';

const METHODS: Readonly<Record<string, string>> = { '/update': 'PUT', '/delete': 'DELETE' };

const bodyOf = ({ header, parameters, docs }: DataRequest): string =>
  `{"execEndpoint":${JSON.stringify(header.execEndpoint ?? '/')}` +
  `,"targetExecutor":${JSON.stringify(header.targetExecutor || null)}` +
  `,"parameters":${JSON.stringify(parameters)},"data":[${docs.map((doc) => documentJson(doc)).join(',')}]}`;

interface Body {
  readonly header: { readonly requestId?: string; readonly status?: Status | null };
  readonly parameters?: JsonObject | null;
  readonly data?: readonly unknown[] | null;
}

const isAnswer = (body: unknown): body is Body => isObject(body) && isObject(body.header);

function answerOf({ header }: DataRequest, body: Body): DataRequest {
  const { requestId = header.requestId, status } = body.header;
  return {
    header: { ...header, requestId, ...(status && { status }) },
    parameters: body.parameters ?? {},
    routes: [],
    docs: (body.data ?? []).map((doc) => readDocument(doc)),
  };
}

export function openHttpTransport(target: TransportTarget): Transport {
  const base = `http${target.tls ? 's' : ''}://${hostAndPort(target)}`;
  const headers = { 'content-type': 'application/json', ...authorizationOf(target) };

  async function call(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(base + path, { ...init, headers });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw unreachable(`${base} does not respond`, error);
    }
  }

  return {
    async send(request, signal = new AbortController().signal) {
      const body = bodyOf(request);
      let answer = await call('/post', { method: 'POST', body, signal });
      if (answer.status === 404) {
        await answer.body?.cancel();
        const endpoint = request.header.execEndpoint ?? '/';
        answer = await call(endpoint, { method: ownValue(METHODS, endpoint) ?? 'POST', body, signal });
      }
      const read: unknown = await answer.json().catch(() => undefined);
      if (isAnswer(read) && answer.status < 502) return answerOf(request, read);
      const why = isAnswer(read) ? read.header.status?.description : isObject(read) && JSON.stringify(read.detail);
      throw unreachable(`${base} responded with status ${answer.status}${why ? `: ${why}` : ''}`);
    },
    async ready(signal = new AbortController().signal) {
      try {
        const answer = await call('/dry_run', { signal });
        const status: unknown = await answer.json();
        return isObject(status) && status.code === 0;
      } catch {
        return false;
      }
    },
    close() {},
  };
}
