/** The OpenAPI 3.1 documents of the dialects, generated from their routes. */
import * as z from 'zod';
import { hostDocument } from '#api/openapi/components.ts';
import { jsonSchema } from '#http/openapi.ts';
import type { CompatRoute, Dialect } from '../dialect.ts';
import type { KeyPlace } from '../keys.ts';
import { bodyExample, type FieldSchema, fieldExample } from './examples.ts';

/** The document of one dialect, with its own paths. */
export const dialectDocument = (dialect: Dialect, version: string): object => ({
  ...hostDocument(
    `Lectern as ${dialect.title}`,
    `The part of the API of ${dialect.title} that Lectern answers.`,
    version,
  ),
  servers: [{ url: `/for/${dialect.name}` }],
  ...bodyOf([dialect], () => ''),
});

/** The document of all dialects. Their paths have the prefix, because several dialects share paths without it. */
export const compatDocument = (dialects: readonly Dialect[], version: string): object => ({
  ...hostDocument(
    'Lectern for other clients',
    'APIs of other products. Each is under `/for/DIALECT`, and also at the root.',
    version,
  ),
  ...bodyOf(dialects, ({ name }) => `/for/${name}`),
});

function bodyOf(dialects: readonly Dialect[], prefixOf: (dialect: Dialect) => string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const dialect of dialects) {
    for (const { method, route } of operationsOf(dialect)) {
      const path = prefixOf(dialect) + openApiPath(route.url);
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation(dialect, route, method) };
    }
  }
  return {
    tags: dialects.map(({ name, title }) => ({ name, description: title })),
    paths,
    components: { securitySchemes: Object.assign({}, ...dialects.map(securitySchemes)) },
  };
}

/** HEAD is left out, because it is answered like GET. */
export const operationsOf = (dialect: Dialect) =>
  dialect.routes.flatMap((route) =>
    [route.method]
      .flat()
      .filter((method) => method !== 'HEAD')
      .map((method) => ({ method, route })),
  );

/** `/crawl/:id` becomes `/crawl/{id}`, and a wildcard `{rest}`. */
const openApiPath = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}').replaceAll('*', '{rest}');

function operation(dialect: Dialect, route: CompatRoute, method: string): object {
  const path = openApiPath(route.url);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string' },
  }));
  const sendsBody = method !== 'GET' && method !== 'DELETE';
  const parameters = [...inPath, ...(sendsBody ? [] : queryParameters(dialect, route))];
  const id = [dialect.name, method.toLowerCase(), ...path.split('/')].map((word) => word.replaceAll(/\W/g, ''));
  return {
    operationId: id.filter(Boolean).join('_'),
    summary: route.summary,
    tags: [dialect.name],
    ...(parameters.length > 0 && { parameters }),
    ...(sendsBody && requestBody(dialect, route)),
    security: securityOf(dialect, route),
    responses: {
      200: { description: `The response of ${dialect.title}.` },
      default: { description: `An error in the format of ${dialect.title}. Its message names the field.` },
    },
  };
}

function requestBody({ name }: Dialect, { url, bodyAs, fields }: CompatRoute): object {
  const bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } };
  if (bodyAs === 'bytes') return { requestBody: { required: true, content: bytes } };
  if (!fields) return {};
  const schema = jsonSchema(fields);
  const example = bodyExample({ dialect: name, url }, fields, schema);
  const content = { schema, ...(example && { example }) };
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
  return { requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, content])) } };
}

function queryParameters({ name: dialect }: Dialect, { url, fields }: CompatRoute): object[] {
  if (!(fields instanceof z.ZodObject)) return [];
  const { required = [], properties = {} } = jsonSchema(fields) as {
    required?: string[];
    properties?: Record<string, FieldSchema & { description?: string }>;
  };
  const exampleOf = (name: string) => {
    const example = required.includes(name) ? fieldExample(name, { dialect, url }, properties[name]) : undefined;
    return example !== undefined && { example };
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    ...(description !== undefined && { description }),
    ...exampleOf(name),
    schema,
  }));
}

const schemeName = ({ name }: Dialect, at: number) => `${name}_${at + 1}`;

/** A key in a field of the body is described by that field. */
function schemeOf(place: KeyPlace): object | undefined {
  if (place === 'bearer') return { type: 'http', scheme: 'bearer' };
  if (place === 'authorization') return { type: 'apiKey', in: 'header', name: 'Authorization' };
  if ('header' in place) return { type: 'apiKey', in: 'header', name: place.header };
  return 'queryField' in place ? { type: 'apiKey', in: 'query', name: place.queryField } : undefined;
}

const securitySchemes = (dialect: Dialect): object =>
  Object.fromEntries(
    dialect.keyPlaces.flatMap((place, at) => {
      const scheme = schemeOf(place);
      return scheme ? [[schemeName(dialect, at), scheme]] : [];
    }),
  );

/** Alternatives. An empty one means that callers without a key are admitted. */
function securityOf(dialect: Dialect, { access }: CompatRoute): object[] {
  if (access === 'public') return [];
  const keys = dialect.keyPlaces.flatMap((place, at) => (schemeOf(place) ? [{ [schemeName(dialect, at)]: [] }] : []));
  return access === 'read' || dialect.mayBeKeyless ? [{}, ...keys] : keys;
}
