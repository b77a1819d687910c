/** Builds the HTTP request of a call: URL, headers and body. */
import { resolveFaceUrls } from './face-urls.ts';
import type { CallOptions, ClientOptions, RequestSpec } from './transport.ts';

export interface RequestBuilder {
  /** Throws a TypeError if the URL of the API is unknown. */
  urlOf(spec: RequestSpec): string;
  requestOf(spec: RequestSpec, call: CallOptions, signal: AbortSignal | undefined): RequestInit;
}

export function createRequestBuilder(options: ClientOptions): RequestBuilder {
  const places = resolveFaceUrls(options.baseUrl, options.urls);
  const apiKey = options.apiKey?.trim();
  // Checked here, because the error that `fetch` throws would contain the key.
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('The API key contains invalid characters: only visible ASCII is allowed');

  function urlOf({ face, path }: RequestSpec): string {
    const place = places[face];
    if (place !== undefined) return place + path;
    throw new TypeError(`The URL of the face "${face}" does not follow from ${options.baseUrl}: set \`urls.${face}\``);
  }

  function requestOf(spec: RequestSpec, call: CallOptions, signal: AbortSignal | undefined): RequestInit {
    const headers = new Headers({
      accept: spec.accept ?? 'application/json',
      ...(spec.json !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    });
    for (const [name, value] of Object.entries({ ...options.headers, ...call.headers })) headers.set(name, value);
    const body = spec.json !== undefined ? JSON.stringify(spec.json) : spec.body;
    // Redirects are not followed by default, because the key and the content must be sent to this server only.
    const redirect = spec.followRedirects ? 'follow' : 'manual';
    return {
      method: spec.method ?? 'GET',
      headers,
      redirect,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    };
  }

  return { urlOf, requestOf };
}
