/** Finds the route of a request in the gateway's table. */
import type { IncomingMessage } from 'node:http';
import { type Answer, detailAnswer, notFound } from './answer.ts';
import type { Route } from './routes.ts';

export interface RouteMatch {
  readonly path: string;
  /** The routes of the path by method; `undefined` for an unknown path. */
  readonly methods: ReadonlyMap<string, Route> | undefined;
  readonly route: Route | undefined;
  /** The value of the path parameter; empty if the path has none. */
  readonly name: string;
}

export interface Router {
  match(request: IncomingMessage): RouteMatch;
  /** The response to a request without a route: 405, a 307 redirect to the path without its trailing slash, or 404. */
  refuse(request: IncomingMessage, match: RouteMatch): Answer;
}

type RouteTable = ReadonlyMap<string, ReadonlyMap<string, Route>>;

function createTable(routes: readonly Route[]): RouteTable {
  const table = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = table.get(route.path) ?? new Map<string, Route>();
    table.set(route.path, methods.set(route.method, route));
  }
  return table;
}

/** The only path with a parameter. */
const MODE_PREFIX = '/api/';

function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function createRouter(routes: readonly Route[]): Router {
  const table = createTable(routes);

  /** HEAD has the route of GET (RFC 9110, section 9.3.2); Node leaves out the body. */
  const routeOf = (methods: ReadonlyMap<string, Route> | undefined, method: string) =>
    methods?.get(method) ?? (method === 'HEAD' ? methods?.get('GET') : undefined);

  function match({ url = '/', method = 'GET' }: IncomingMessage): RouteMatch {
    const path = pathOf(url);
    const methods = table.get(path);
    if (methods) return { path, methods, route: routeOf(methods, method), name: '' };
    if (path.startsWith(MODE_PREFIX) && path.length > MODE_PREFIX.length && !path.includes('/', MODE_PREFIX.length)) {
      const named = table.get(`${MODE_PREFIX}{mode}`);
      return { path, methods: named, route: routeOf(named, method), name: path.slice(MODE_PREFIX.length) };
    }
    return { path, methods: undefined, route: undefined, name: '' };
  }

  function refuse({ url = '/' }: IncomingMessage, { path, methods }: RouteMatch): Answer {
    if (methods) {
      const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      return detailAnswer(405, 'Method Not Allowed', { allow: allowed.join(', ') });
    }
    const bare = path.replace(/\/$/, '');
    if (bare === path || !table.has(bare)) return notFound();
    const query = url.indexOf('?');
    return { code: 307, body: '', headers: { location: encodeURI(bare) + (query < 0 ? '' : url.slice(query)) } };
  }

  return { match, refuse };
}
