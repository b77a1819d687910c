/** Chooses the sources of a search: by `provider`, `sources` or `type` of the request, or else by the router. */
import { environmentName } from '#config.ts';
import { type Problem, problem } from '#errors.ts';
import type { LeftOut } from './ask-together.ts';
import type { EngineName } from './provider.ts';
import { PUBLIC_SOURCES } from './providers/providers.ts';
import type { SearchQuery } from './query.ts';
import { type KnownSources, routeInGroup, routeQuery } from './routes.ts';
import { isLocalIndex } from './settings.ts';
import type { SourceGroup } from './source-groups.ts';
import type { Source } from './sources.ts';

export interface SourceChoice {
  /** Asked in this order, until enough of them have answered. */
  readonly providers: readonly Source[];
  /** Asked at the same time. */
  readonly together: readonly Source[];
  /** Whether the answer waits for the providers. The local index alone is a list like any other. Default: true. */
  readonly isAwaited?: boolean | undefined;
  readonly engine?: EngineName | undefined;
  /** Sources that the caller named, and that cannot be asked. */
  readonly leftOut?: readonly LeftOut[] | undefined;
}

export interface Wanted {
  readonly provider?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly group?: SourceGroup | undefined;
}

export interface SourceChooser {
  /** Names of providers and sources that callers may use. */
  readonly names: readonly string[];
  /** Throws ParamValidationError (unknown name) and AssertionFailureError (nothing to ask). */
  choose(query: SearchQuery, wanted: Wanted): SourceChoice;
}

export interface ChooserParts {
  readonly sources: readonly Source[];
  readonly index?: Source | undefined;
  readonly publicSources?: readonly Source[] | undefined;
  readonly unavailable?: ReadonlyMap<string, string> | undefined;
}

const ENGINES: readonly EngineName[] = ['google', 'bing'];
const SOURCES_SETTING = environmentName('searchSources');
const PROVIDERS_SETTING = environmentName('searchProviders');

/** Says how the operator gets results, for callers of a server that has no source for them. */
export const HOW_TO_CONFIGURE = `the operator can set ${PROVIDERS_SETTING}, or ${SOURCES_SETTING}=all for public sources that need no key`;

export function createSourceChooser(parts: ChooserParts): SourceChooser {
  const { sources, index, publicSources = [], unavailable = new Map() } = parts;
  const defaults = sources.length > 0 ? sources : index ? [index] : [];
  const all = [...sources, ...publicSources];
  const names = [...new Set([...ENGINES, 'reader', 'local', ...all.map(({ name }) => name)])];

  function byProvider(provider: string): Pick<SourceChoice, 'providers' | 'engine'> {
    const engine = ENGINES.find((name) => name === provider);
    if (engine) return { providers: sources.filter(({ engines }) => engines.includes(engine)), engine };
    if (isLocalIndex(provider)) return { providers: index ? [index] : [] };
    const named = all.filter(({ name }) => name === provider);
    if (named.length) return { providers: named };
    throw problem('ParamValidationError', { path: 'provider', message: `provider must be one of ${names.join(', ')}` });
  }

  function bySources(wanted: readonly string[], query: SearchQuery): SourceChoice {
    if (wanted.includes('all'))
      return { providers: [], together: all.filter(({ kinds }) => kinds.includes(query.kind)) };
    const together: Source[] = [];
    const leftOut: LeftOut[] = [];
    for (const name of new Set(wanted)) {
      const source = isLocalIndex(name) ? index : all.find((one) => one.name === name);
      const reason = source ? undefined : isLocalIndex(name) ? 'off' : unavailable.get(name);
      if (source?.kinds.includes(query.kind)) together.push(source);
      else if (source) leftOut.push({ name, reason: `has no ${query.kind === 'web' ? 'pages' : query.kind}` });
      else if (reason !== undefined) leftOut.push({ name, reason });
      else throw unknownSource(name);
    }
    if (!together.length) throw nothingToAsk(leftOut, 'sources');
    return { providers: [], together, leftOut };
  }

  const unknownSource = (name: string): Problem => {
    const known = [...new Set(['all', 'reader', ...all.map((one) => one.name), ...unavailable.keys()])];
    const shown = /^[\w.-]{1,60}$/.test(name) ? `${name} is unknown; ` : '';
    return problem('ParamValidationError', {
      path: 'sources',
      message: `sources: ${shown}the sources are ${known.join(', ')}`,
    });
  };

  function byGroup(group: SourceGroup, query: SearchQuery): SourceChoice {
    const known = knownAmong(publicSources.filter(({ facts }) => facts?.groups.includes(group)));
    const chosen = routeInGroup(query, known);
    if (chosen.length) return { providers: [], together: chosen.map((name) => publicNamed(name)) };
    const able = Object.values(PUBLIC_SOURCES).filter(({ source }) => source.groups.includes(group));
    const message = `No source with ${group} is on: the operator can turn on ${able.map(({ name }) => name).join(', ')} with ${SOURCES_SETTING}`;
    throw problem('AssertionFailureError', { path: 'type', message });
  }

  /** Sources that the operator has added are not in the table of the router, so they are always asked. */
  function route(query: SearchQuery): string[] {
    const able = publicSources.filter((source) => canMatch(source, query));
    const added = able.filter(({ name }) => !Object.hasOwn(PUBLIC_SOURCES, name));
    return [...routeQuery(query, knownAmong(able)), ...added.map(({ name }) => name)];
  }

  const publicNamed = (name: string): Source => publicSources.find((source) => source.name === name)!;

  return {
    names,
    choose(query, { provider, sources: wanted, group }) {
      if (provider !== undefined && wanted?.length)
        throw problem('ParamValidationError', { path: 'sources', message: 'send provider or sources, not both' });
      if (wanted?.length) return { isAwaited: false, ...bySources(wanted, query) };
      if (group !== undefined && provider === undefined) return { isAwaited: false, ...byGroup(group, query) };
      const { providers: among, engine } = provider === undefined ? { providers: defaults } : byProvider(provider);
      const providers = among.filter(({ kinds }) => kinds.includes(query.kind));
      const routed = provider === undefined ? route(query) : [];
      if (!providers.length && !routed.length) throw noProvider(query, provider, defaults.length + all.length > 0);
      const together = routed.map(publicNamed);
      return { providers, together, engine, ...(together.length && { isAwaited: sources.length > 0 }) };
    },
  };
}

const knownAmong = (sources: readonly Source[]): KnownSources =>
  new Map(sources.flatMap(({ name, facts }) => (facts ? [[name, facts]] : [])));

/** Whether a public source can have results that match the operators. Others are not asked. */
function canMatch({ facts, kinds }: Source, { kind, operators }: SearchQuery): boolean {
  if (!kinds.includes(kind) || operators.filetype.length || operators.ext.length) return false;
  const { site } = operators;
  if (!site.length) return true;
  return (facts?.hosts ?? []).some((host) =>
    site.some((wanted) => {
      const [name = ''] = wanted.replace(/^https?:\/\//, '').split('/');
      return name === host || name.endsWith(`.${host}`) || host.endsWith(`.${name}`);
    }),
  );
}

function nothingToAsk(leftOut: readonly LeftOut[], path: string): Problem {
  const reasons = leftOut.map(({ name, reason }) => `${name} (${reason})`).join(', ');
  return problem('AssertionFailureError', { path, message: `None of these sources can be searched: ${reasons}` });
}

function noProvider({ kind }: SearchQuery, provider: string | undefined, hasSources: boolean): Problem {
  if (!hasSources) {
    const message = `No search provider is configured on this server: ${HOW_TO_CONFIGURE}`;
    return problem('AssertionFailureError', { message });
  }
  const what = kind === 'web' ? 'pages' : kind;
  const from = provider === undefined ? '' : ` from ${provider}`;
  const message = `No search provider configured on this server returns ${what}${from}`;
  return problem('AssertionFailureError', { path: provider === undefined ? 'type' : 'provider', message });
}
