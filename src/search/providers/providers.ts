/** The providers that can be used in the settings, and those of them that are public sources. */
import type { Provider, SourceFacts } from '../provider.ts';
import { arxiv } from './arxiv.ts';
import { brave } from './brave.ts';
import { crates } from './crates.ts';
import { crossref } from './crossref.ts';
import { doaj } from './doaj.ts';
import { europepmc } from './europepmc.ts';
import { exa } from './exa.ts';
import { gdelt } from './gdelt.ts';
import { github, githubIssues } from './github.ts';
import { hackernews } from './hackernews.ts';
import { huggingface, huggingfaceDatasets } from './huggingface.ts';
import { internetarchive } from './internetarchive.ts';
import { marginalia } from './marginalia.ts';
import { commons, mediawiki, wikinews, wikipedia, wikivoyage, wiktionary } from './mediawiki.ts';
import { mojeek } from './mojeek.ts';
import { npm } from './npm.ts';
import { openlibrary } from './openlibrary.ts';
import { pubmed } from './pubmed.ts';
import { searxng } from './searxng.ts';
import { semanticscholar } from './semanticscholar.ts';
import { serper } from './serper.ts';
import { stackexchangeSites } from './stackexchange.ts';
import { tavily } from './tavily.ts';
import { wikidata } from './wikidata.ts';

/** Services that search the web at large. */
const WEB = [searxng, brave, mojeek, tavily, exa, serper, marginalia];

/** Services that search one collection. Ties between results are resolved in this order. */
const COLLECTIONS = [
  ...[wikipedia, wikidata, wiktionary, wikivoyage, wikinews, commons],
  ...stackexchangeSites,
  ...[hackernews, github, githubIssues, npm, crates, huggingface, huggingfaceDatasets],
  ...[crossref, arxiv, pubmed, europepmc, semanticscholar, doaj, openlibrary, internetarchive, gdelt],
];

const named = (providers: readonly Provider[]): Readonly<Record<string, Provider>> =>
  Object.fromEntries(providers.map((provider) => [provider.name, provider]));

export const PROVIDERS = named([...WEB, mediawiki, ...COLLECTIONS]);

export type PublicSource = Provider & { readonly source: SourceFacts };

/** The sources that `searchSources: all` turns on. All have a default URL and need no key. */
export const PUBLIC_SOURCES: Readonly<Record<string, PublicSource>> = named(COLLECTIONS) as Readonly<
  Record<string, PublicSource>
>;
