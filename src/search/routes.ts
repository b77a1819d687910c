/**
 * The router: which public sources fit a query. One table of rules; each rule states words or a form that a query has,
 * and the sources that have such content. Patterns take linear time.
 */
import { guessLanguage } from './index/text/guess-language.ts';
import { baseLanguage } from './languages.ts';
import type { SourceFacts } from './provider.ts';
import { ARXIV_ID, DOI, ISBN, PMID } from './providers/identifiers.ts';
import type { SearchQuery } from './query.ts';

interface Route {
  /** What the rule recognizes. */
  readonly subject: string;
  readonly pattern: RegExp;
  /** Best first. */
  readonly sources: readonly string[];
  /**
   * `only`: the query names one thing, so no other rule applies. `always`: the query is in the words of programs, so
   * sources in English are asked whatever the language is.
   */
  readonly reach?: 'only' | 'always';
}

const words = (text: string) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${text})(?![\\p{L}\\p{N}])`, 'iu');

const QUESTIONS = ['stackoverflow', 'github-issues'];

export const ROUTES: readonly Route[] = [
  { subject: 'a DOI', pattern: DOI, sources: ['crossref', 'europepmc'], reach: 'only' },
  { subject: 'an arXiv identifier', pattern: ARXIV_ID, sources: ['arxiv'], reach: 'only' },
  { subject: 'a PubMed identifier', pattern: PMID, sources: ['pubmed'], reach: 'only' },
  { subject: 'an ISBN', pattern: ISBN, sources: ['openlibrary'], reach: 'only' },
  {
    subject: 'an error message',
    pattern:
      /\b(?:[A-Z][A-Za-z]{1,40}(?:Error|Exception)|E(?:NOENT|ACCES|PERM|EXIST|INVAL|AGAIN|PIPE|BUSY|MFILE|NOSPC|NOMEM|NOTFOUND|TIMEDOUT|RESOLVE|CONN[A-Z]{3,10}|ADDR[A-Z]{3,10}|HOSTUNREACH|NETUNREACH)|SIG[A-Z]{3,6}|[Tt]raceback|segfault|segmentation fault|stack ?trace|core dumped|undefined reference|is not (?:a function|defined|recognized)|(?:cannot|could not|can't) (?:find|resolve|read|import|open|load) (?:module|property|symbol|package|file|name)|panicked at|exit (?:code|status) \d+|0x[0-9a-fA-F]{4,16})\b/,
    sources: QUESTIONS,
    reach: 'always',
  },
  {
    subject: 'an identifier of a program',
    pattern:
      /\b\w{1,60}(?:::|->)\w|\b\w{1,60}\.\w{1,60}\(|\b[a-z]{2,30}[A-Z][a-z]\w{0,40}\b|\b[a-z]{1,30}_[a-z]\w{0,40}\b|\w\(\)/,
    sources: [...QUESTIONS, 'github'],
    reach: 'always',
  },
  {
    subject: 'packages of JavaScript',
    pattern: words('npm|npx|node\\.?js|node modules?|package\\.json|yarn|pnpm|react|vue|svelte'),
    sources: ['npm', 'stackoverflow', 'github'],
    reach: 'always',
  },
  {
    subject: 'a scoped npm package',
    pattern: /(?:^|\s)@[a-z0-9-]{1,60}\/[a-z0-9._-]{1,60}(?:\s|$)/,
    sources: ['npm', 'github'],
    reach: 'always',
  },
  {
    subject: 'packages of Rust',
    pattern: words('crates?|cargo|rust|rustc|tokio|serde'),
    sources: ['crates', 'stackoverflow', 'github'],
    reach: 'always',
  },
  {
    subject: 'source code',
    pattern: words(
      'github|repositor(?:y|ies)|open[- ]source|source code|self[- ]hosted|library for|sdk|boilerplate|cli tool',
    ),
    sources: ['github', 'hackernews'],
    reach: 'always',
  },
  {
    subject: 'models and data sets',
    pattern: words(
      'hugging ?face|llms?|gguf|lora|embedding models?|language models?|fine[- ]tun(?:e|ed|ing)|checkpoints?|datasets?|data sets?|text[- ]to[- ](?:image|speech)|diffusion models?',
    ),
    sources: ['huggingface', 'huggingface-datasets', 'arxiv', 'github'],
    reach: 'always',
  },
  {
    subject: 'servers and networks',
    pattern: words(
      'nginx|apache|haproxy|dns|smtp|ldap|kubernetes|docker|raid|vpn|iptables|reverse proxy|load balancer',
    ),
    sources: ['serverfault', 'stackoverflow', 'unix'],
  },
  { subject: 'Ubuntu', pattern: words('ubuntu|apt-get|snapd?'), sources: ['askubuntu', 'unix'] },
  {
    subject: 'Unix and Linux',
    pattern: words('linux|bash|zsh|systemd|systemctl|grep|awk|sed|ssh|cron|debian|fedora|shell script'),
    sources: ['unix', 'stackoverflow', 'askubuntu'],
  },
  {
    subject: 'programming',
    pattern: words(
      'javascript|typescript|python|java|kotlin|swift|golang|php|ruby|haskell|sql|postgres(?:ql)?|sqlite|css|html|regex|django|rails|spring boot|git|api|compiler|async|unit tests?',
    ),
    sources: ['stackoverflow', 'github', 'hackernews'],
  },
  {
    subject: 'personal computers',
    pattern: words('windows (?:1[01]|[78])|macos|excel|outlook|firefox|chrome|bluetooth|wi-?fi|usb|hdmi|ssd'),
    sources: ['superuser'],
  },
  {
    subject: 'mathematics',
    pattern: words(
      'theorem|lemma|proof of|integral|derivative|eigenvalues?|matrix|topology|polynomials?|prime numbers?',
    ),
    sources: ['mathematics', 'wikipedia', 'arxiv'],
  },
  {
    subject: 'medicine and biology',
    pattern: words(
      'pubmed|clinical trials?|patients?|disease|syndrome|symptoms?|vaccines?|cancer|tumou?rs?|diabetes|antibiotics?|dosage|side effects?|proteins?|genes?|genom(?:e|ic)s?|bacteria|virus(?:es)?|placebo|randomi[sz]ed',
    ),
    sources: ['pubmed', 'europepmc', 'wikipedia'],
  },
  {
    subject: 'computer science and physics',
    pattern: words(
      'arxiv|preprints?|transformers?|neural networks?|reinforcement learning|machine learning|deep learning|quantum|black holes?|dark matter|cosmology|superconduct(?:or|ors|ivity)|graph algorithms?',
    ),
    sources: ['arxiv', 'semanticscholar', 'wikipedia'],
  },
  {
    subject: 'papers',
    pattern: words(
      'papers?|et al|journal|doi|peer[- ]reviewed|meta-?analysis|systematic review|literature review|stud(?:y|ies) (?:of|on)|citations?',
    ),
    sources: ['crossref', 'semanticscholar', 'doaj', 'arxiv'],
  },
  {
    subject: 'books',
    pattern: words(
      'books?|novels?|isbn|paperback|hardcover|author of|written by|bücher|buch|roman|livres?|libros?|libri',
    ),
    sources: ['openlibrary', 'wikipedia', 'internetarchive'],
  },
  {
    subject: 'archived items',
    pattern: words(
      'internet archive|archive\\.org|public domain|scanned|old (?:films?|movies?|recordings?|software)|live concert',
    ),
    sources: ['internetarchive', 'openlibrary'],
  },
  {
    subject: 'news',
    pattern: words(
      "news|breaking|today|yesterday|latest|this (?:week|month)|election|headlines|nachrichten|heute|aktuell|actualités|aujourd'hui|noticias|hoy|notizie|oggi|notícias|новости|сегодня",
    ),
    sources: ['gdelt', 'wikinews', 'hackernews'],
  },
  { subject: 'news in East Asia', pattern: /新闻|新聞|ニュース|뉴스/, sources: ['gdelt', 'wikinews'] },
  {
    subject: 'technology companies',
    pattern: words('hacker news|show hn|ask hn|startups?|y combinator|saas|silicon valley'),
    sources: ['hackernews'],
  },
  {
    subject: 'words',
    pattern: words(
      'defin(?:e|ition)|meaning of|etymology|synonyms?|antonyms?|pronunciation|plural of|bedeutung|signification|significado',
    ),
    sources: ['wiktionary', 'wikipedia'],
  },
  {
    subject: 'travel',
    pattern: words(
      'travel|things to do|itinerary|sightseeing|where to stay|day trips?|reisef(?:ührer)?|reise nach|voyage (?:à|en)|viaje a',
    ),
    sources: ['wikivoyage', 'wikipedia'],
  },
];

/** The sources of a query to which no rule applies. */
export const DEFAULT_ROUTE: readonly string[] = ['wikipedia', 'wikidata', 'hackernews'];
/** Sources of other kinds of results. */
const KIND_ROUTES = { news: ['gdelt', 'wikinews', 'hackernews'], images: ['commons'] } as const;

/** Maximum number of sources for one query. Each further source costs requests and adds fewer results. */
export const MAX_ROUTED = 4;

/** Maximum number of sources of one operator, which counts the requests to all of them. */
const MAX_OF_OPERATOR = 2;

/** The sources that are on, in the order of the table. */
export type KnownSources = ReadonlyMap<string, Pick<SourceFacts, 'languages' | 'operator'>>;

/** Chooses among the sources that are on; best first. */
export function routeQuery(query: SearchQuery, known: KnownSources): string[] {
  const { kind } = query;
  if (kind !== 'web') return KIND_ROUTES[kind].filter((name) => known.has(name));
  const matching = ROUTES.filter(({ pattern }) => pattern.test(query.words));
  const only = matching.find(({ reach }) => reach === 'only');
  const rules = only ? [only] : matching;
  const language = languageOfQuery(query);
  const chosen = new Set<string>();
  const ofOperator = new Map<string, number>();
  const take = (names: readonly string[], reach: Route['reach']) => {
    for (const name of names) {
      const facts = known.get(name);
      if (!facts || chosen.has(name) || chosen.size === MAX_ROUTED) continue;
      const isForeign = facts.languages && language !== undefined && !facts.languages.includes(language);
      const taken = ofOperator.get(facts.operator) ?? 0;
      if ((isForeign && reach === undefined) || taken === MAX_OF_OPERATOR) continue;
      ofOperator.set(facts.operator, taken + 1);
      chosen.add(name);
    }
  };
  for (const { sources, reach } of rules) take(sources, reach);
  // An encyclopedia has something about most subjects, but not about an error message.
  if (!rules.some(({ reach }) => reach !== undefined)) take(rules.length ? ['wikipedia'] : DEFAULT_ROUTE, undefined);
  if (!chosen.size) take(DEFAULT_ROUTE, undefined);
  return [...chosen];
}

/**
 * Chooses the sources of a group: those that a rule names, then the others in the order of the table, one of each
 * operator.
 */
export function routeInGroup(query: SearchQuery, known: KnownSources): string[] {
  const chosen = routeQuery(query, known);
  const operators = new Set(chosen.map((name) => known.get(name)!.operator));
  for (const [name, { operator }] of known) {
    if (chosen.length >= MAX_ROUTED || operators.has(operator)) continue;
    operators.add(operator);
    chosen.push(name);
  }
  return chosen;
}

/** Scripts of one large language, for queries without function words. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ru', /\p{Script=Cyrillic}/u],
  ['el', /\p{Script=Greek}{2}/u],
  ['ar', /\p{Script=Arabic}/u],
];
/** Shorter texts in Latin letters are too ambiguous: `die` is a word of English and of German. */
const MIN_WORDS = 4;

/** The language of a query: as the caller says, or by its script and words. An ISO 639-1 code. */
export function languageOfQuery({ language, words: text }: SearchQuery): string | undefined {
  if (language !== undefined) return baseLanguage(language);
  const isShort = !/[^\p{Script=Latin}\P{L}]/u.test(text) && text.split(/\s+/).length < MIN_WORDS;
  const guessed = isShort ? undefined : guessLanguage(text);
  return guessed ?? SCRIPTS.find(([, letters]) => letters.test(text))?.[0];
}
