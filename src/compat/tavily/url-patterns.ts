/**
 * Turns Tavily's regular expressions for paths and for domains into patterns of the native crawl, which match whole URLs.
 * `^` and `$` are supported at the ends of an expression.
 */
import { compilePatterns } from '#crawl/index.ts';
import { problem } from '#errors.ts';

export interface UrlRules {
  readonly select_paths: readonly string[];
  readonly select_domains: readonly string[];
  readonly exclude_paths: readonly string[];
  readonly exclude_domains: readonly string[];
}

/** Throws ParamValidationError that names the field of an invalid expression. */
export async function urlPatterns(rules: UrlRules): Promise<{ include: string[]; exclude: string[] }> {
  const parts = {
    select_paths: rules.select_paths.map((text) => pathPart(text, 'select_paths')),
    select_domains: rules.select_domains.map((text) => hostPart(text, 'select_domains')),
    exclude_paths: rules.exclude_paths.map((text) => pathPart(text, 'exclude_paths')),
    exclude_domains: rules.exclude_domains.map((text) => hostPart(text, 'exclude_domains')),
  };
  for (const [field, list] of Object.entries(parts))
    await compilePatterns(
      list.map((part) => `/${part}/`),
      field,
    );
  const { select_paths: paths, select_domains: hosts } = parts;
  const isRestricted = paths.length + hosts.length > 0;
  const selected = orAny(hosts, ANY_HOST).flatMap((host) => orAny(paths, ANY_PATH).map((path) => pattern(host, path)));
  return {
    include: isRestricted ? selected : [],
    exclude: [
      ...parts.exclude_paths.map((path) => pattern(ANY_HOST, path)),
      ...parts.exclude_domains.map((host) => pattern(host, ANY_PATH)),
    ],
  };
}

const ANY_HOST = '[^/?#]*';
const ANY_PATH = '/';

const orAny = (list: readonly string[], any: string): readonly string[] => (list.length > 0 ? list : [any]);

const pattern = (host: string, path: string): string => `/^https?://${host}${path}/`;

function hostPart(text: string, field: keyof UrlRules): string {
  const { body, fromStart, toEnd } = withoutAnchors(text, field);
  return `${fromStart ? '' : '[^/?#:]*'}(?:${body})${toEnd ? '' : '[^/?#:]*'}(?::[0-9]+)?`;
}

function pathPart(text: string, field: keyof UrlRules): string {
  const { body, fromStart, toEnd } = withoutAnchors(text, field);
  // An expression that starts with a slash cannot match inside the host name, because host names have none.
  const before = fromStart ? '' : /^\\?\//.test(body) ? '(?:/[^?#]*)?' : '/[^?#]*';
  return `${before}(?:${body})${toEnd ? '(?:[?#].*)?$' : ''}`;
}

function withoutAnchors(text: string, field: keyof UrlRules) {
  const fromStart = text.startsWith('^');
  const toEnd = /(?<!\\)\$$/.test(text);
  const body = text.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined);
  const outsideClasses = body.replaceAll(/\\./gs, '').replaceAll(/\[\^?\]?[^\]]*\]/g, '');
  if (/[\^$]/.test(outsideClasses)) {
    const message = `${field} supports ^ and $ only at the ends of an expression: send several expressions instead`;
    throw problem('ParamValidationError', { path: field, message });
  }
  return { body, fromStart, toEnd };
}
