/** Checks real requests and responses, and the examples, against an OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a document
type Any = any;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Any;
}

/** A request that the examples of an operation describe. */
export interface ExampleRequest {
  readonly id: string;
  /** The name of the body example. */
  readonly name: string;
  readonly method: string;
  /** The path template. */
  readonly template: string;
  /** Values of the path parameters. */
  readonly inPath: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** Content-Type. */
  readonly type: string;
  readonly text: string;
}

/** Forbids unlisted fields in every object schema that lists its fields. */
function close(value: Any, areNames = false): Any {
  if (Array.isArray(value)) return value.map((one) => close(one));
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, close(member, !areNames && key === 'properties')]),
  );
  const listsFields = !areNames && value.properties && value.type === 'object';
  return listsFields && !('additionalProperties' in value) ? { ...closed, additionalProperties: false } : closed;
}

export function readOpenApi(document: Any) {
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (to: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'api', ...close(document) });
  const operations: Operation[] = Object.entries<Any>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => ({
      id: item[method].operationId,
      method,
      path,
      operation: item[method],
    })),
  );
  const find = (id: string): Operation => operations.find((one) => one.id === id) ?? fail(`no operation ${id}`);

  const pointerTo = (parts: readonly string[]) =>
    `api#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
  const compiled = new Map<string, ReturnType<Ajv2020['compile']>>();
  function expectMatch(parts: readonly string[], value: unknown, what: string): void {
    const $ref = pointerTo(parts);
    const matches = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, matches);
    expect(matches(value), `${what}: ${JSON.stringify([matches.errors, value]).slice(0, 2_000)}`).toBe(true);
  }

  /** The path of a response in the document. It may be one of the components. */
  function locateResponse({ method, path, operation, id }: Operation, status: number): string[] {
    const response = operation.responses[status] ?? fail(`${id} has no response ${status}`);
    return response.$ref ? response.$ref.slice(2).split('/') : ['paths', path, method, 'responses', String(status)];
  }
  const valueAt = (parts: readonly string[]) => parts.reduce((value, part) => value[part], document as Any);

  /** Fails unless the response has a documented status and content type and matches the schema. */
  function expectAnswer(id: string, { status, type, text }: ReceivedAnswer): void {
    const operation = find(id);
    const place = locateResponse(operation, status);
    const mediaType = type.split(';')[0]!;
    const what = `${id} ${status} ${mediaType}`;
    expect(Object.keys(valueAt(place).content ?? {}), `${what}: ${text.slice(0, 300)}`).toContain(mediaType);
    const schema = [...place, 'content', mediaType, 'schema'];
    if (mediaType === 'application/json') expectMatch(schema, JSON.parse(text), what);
    else if (mediaType !== 'application/x-ndjson') expectMatch(schema, text, what);
    else for (const line of text.split('\n').filter(Boolean)) expectMatch(schema, JSON.parse(line), what);
  }

  /** Fails unless a request body matches its schema. */
  function expectBody(id: string, body: unknown): void {
    const { method, path } = find(id);
    expectMatch(['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'], body, id);
  }

  const examplesOf = (media: Any): [string, unknown][] =>
    'example' in media
      ? [['example', media.example]]
      : Object.entries<Any>(media.examples ?? {}).map(([name, { value }]) => [name, value]);

  /** The requests that the examples of an operation describe: one for each body example. */
  function requestsOf({ id, method, path, operation }: Operation): ExampleRequest[] {
    const within = (place: string): Record<string, string> =>
      Object.fromEntries(
        (operation.parameters ?? [])
          .filter((one: Any) => one.in === place && 'example' in one)
          .map((one: Any) => [one.name, String(one.example)]),
      );
    const media = operation.requestBody?.content['application/json'];
    const bodies: [string, unknown][] = media ? examplesOf(media) : [['', undefined]];
    return bodies.map(([name, body]) => ({
      ...{ id, name, method: method.toUpperCase(), template: path, body },
      ...{ inPath: within('path'), query: within('query'), headers: within('header') },
    }));
  }

  /** Fails unless every operation has a tag, and has examples of its request and responses that match their schemas. */
  function expectExamples(): void {
    const tags = document.tags.map(({ name }: Any) => name);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    for (const one of operations) {
      expect(tags, one.id).toEqual(expect.arrayContaining(one.operation.tags));
      expect(one.operation.tags.length, one.id).toBe(1);
      const requests = requestsOf(one);
      expect(requests.length, `requests of ${one.id}`).toBeGreaterThan(0);
      for (const { body, inPath } of requests) {
        if (body !== undefined) expectBody(one.id, body);
        for (const [, name] of one.path.matchAll(/\{(\w+)\}/g)) expect(inPath, one.id).toHaveProperty(name!);
      }
      for (const parameter of one.operation.parameters ?? []) {
        if ('example' in parameter) {
          const matches = ajv.compile({ $id: undefined, ...parameter.schema });
          expect(matches(parameter.example), `${one.id} ${parameter.name}`).toBe(true);
        }
      }
      for (const status of Object.keys(one.operation.responses)) expectResponseExamples(one, Number(status));
    }
  }

  function expectResponseExamples(one: Operation, status: number): void {
    const place = locateResponse(one, status);
    const json = valueAt(place).content?.['application/json'];
    if (!json) return;
    const examples = examplesOf(json);
    expect(examples.length, `examples of ${one.id} ${status}`).toBeGreaterThan(0);
    for (const [name, value] of examples) {
      expectMatch([...place, 'content', 'application/json', 'schema'], value, `${one.id} ${status} ${name}`);
    }
  }

  return { operations, requestsOf, expectAnswer, expectBody, expectExamples };
}

function fail(message: string): never {
  throw new Error(message);
}

/** Sends the request of an example. `change` replaces parts of it, such as hosts that tests cannot reach. */
export async function sendExample(
  base: string,
  { method, template, inPath, query, headers, body }: ExampleRequest,
  more: { readonly headers?: Record<string, string>; readonly change?: (text: string) => string } = {},
): Promise<ReceivedAnswer> {
  const { change = (text) => text } = more;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(change(inPath[name]!)));
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [name, change(value)]);
  const search = parameters.length ? `?${new URLSearchParams(parameters)}` : '';
  const answer = await fetch(base + path + search, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...more.headers },
    ...(body !== undefined && { body: change(JSON.stringify(body)) }),
  });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}
