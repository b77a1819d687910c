/** Made by `npm run docs` from the tables of options: what can be asked of each face. */
// biome-ignore-all format: made by a script

/** Options of the reader. */
export interface ReadOptions {
  /** What to answer with; several may be joined in JSON and stream output (`markdown+html`). `content` is the main content as Markdown, `markdown` the whole page, `html` the document, `text` its text, `frontmatter` Markdown under YAML metadata, `screenshot` and `pageshot` pictures. `vlm` (a vision model looks at the page), `readerlm-v2` (a language model rewrites its HTML), `svc-ocr` and `svc-ocr-v1` (text recognition) need a model that the operator has configured, and stand alone. Default: content. */
  readonly respondWith?: string | undefined;
  /** A named set of options; only options that are not given are filled. */
  readonly preset?: 'reader' | 'index' | 'research' | 'agent' | 'spider' | undefined;
  /** `browser` renders the page, `direct` (or `curl`) fetches it without scripts, `auto` fetches first and renders when scripts would change what there is to read, `cf-browser-rendering` renders it in a remote service that the operator has configured. `vlm` is `browser` with the format `vlm`, `readerlm-v2` is `auto` with the format `readerlm-v2`. Unknown names mean `auto`. Default: auto. */
  readonly engine?: string | undefined;
  /** Whether the address shown, and the base of relative links, is the requested one or the one after redirects. Default: initial. */
  readonly base?: 'initial' | 'final' | undefined;
  /** When a rendered page is ready to be answered: as soon as there is HTML, when main content is visible, when the document stops changing, when resources, media too, or the whole network are idle. Default: by the other options. */
  readonly respondTiming?: 'html' | 'visible-content' | 'mutation-idle' | 'resource-idle' | 'media-idle' | 'network-idle' | undefined;
  /** The longest a read may take, 180 at most. From 20 on it also waits for an idle network, as `none` does within the default limit; a header that is no positive number means `none`. Unit: s. Default: 15 in the browser, 30 direct. */
  readonly timeout?: 'none' | number | undefined;
  /** CSS selectors: what they match becomes the page. */
  readonly targetSelector?: string | readonly string[] | undefined;
  /** CSS selectors that must all be present before the page is taken; without them `targetSelector` is waited for. */
  readonly waitForSelector?: string | readonly string[] | undefined;
  /** CSS selectors: what they match is removed from the page. */
  readonly removeSelector?: string | readonly string[] | undefined;
  /** Puts the content of frames into the page; `quoted` as a preformatted block of its text. Waits for an idle network. Default: false. */
  readonly withIframe?: 'quoted' | boolean | undefined;
  /** Writes open shadow roots into the page. Default: false. */
  readonly withShadowDom?: boolean | undefined;
  /** Removes what covers the page: dialogs, banners, fixed layers over its centre. Default: false. */
  readonly removeOverlay?: boolean | undefined;
  /** Takes elements that are not displayed out of the page before anything is read from it. Default: false. */
  readonly detachInvisibles?: boolean | undefined;
  /** Scripts, or addresses of scripts, run in the main frame at each navigation. */
  readonly injectPageScript?: string | readonly string[] | undefined;
  /** Scripts, or addresses of scripts, run in every frame at each navigation. */
  readonly injectFrameScript?: string | readonly string[] | undefined;
  /** The window in which the page is rendered. Default: 1280 x 1280. */
  readonly viewport?: { readonly width?: number | undefined; readonly height?: number | undefined; readonly deviceScaleFactor?: number | undefined; readonly isMobile?: boolean | undefined; readonly isLandscape?: boolean | undefined; readonly hasTouch?: boolean | undefined } | undefined;
  /** An address that the browser visits first, in the same session. */
  readonly preloadUrl?: string | undefined;
  /** Bypasses service workers. They never run here, so this is always so. */
  readonly noServiceWorker?: boolean | undefined;
  /** Links in Markdown: kept, dropped with their text, as text, or as numbered citations. Default: all. */
  readonly retainLinks?: 'all' | 'none' | 'text' | 'gpt-oss' | undefined;
  /** Images in Markdown: kept, dropped, or as their alternative text; `_p` asks for generated texts. Default: all. */
  readonly retainImages?: 'all' | 'none' | 'alt' | 'all_p' | 'alt_p' | undefined;
  /** Video, audio and embedded players in Markdown. Default: none. */
  readonly retainMedia?: 'none' | 'text' | 'link' | 'image' | 'html' | undefined;
  /** Lists the links of the page after the content; `all` keeps repeats. Links that would run a script are left out. Default: false. */
  readonly withLinksSummary?: 'all' | boolean | undefined;
  /** Lists the images of the page after the content. Default: false. */
  readonly withImagesSummary?: boolean | undefined;
  /** Describes images without an alternative text by a vision model. Default: false. */
  readonly withGeneratedAlt?: boolean | undefined;
  /** Keeps images that stand in the page itself as data URLs, instead of naming them by a hash. Default: false. */
  readonly keepImgDataUrl?: boolean | undefined;
  /** How Markdown is written; in headers one `X-Md-…` for each field. */
  readonly markdown?: { readonly headingStyle?: 'atx' | 'setext' | undefined; readonly hr?: string | undefined; readonly bulletListMarker?: '*' | '-' | '+' | undefined; readonly emDelimiter?: '_' | '*' | undefined; readonly strongDelimiter?: '**' | '__' | undefined; readonly linkStyle?: 'inlined' | 'referenced' | 'discarded' | undefined; readonly linkReferenceStyle?: 'full' | 'collapsed' | 'shortcut' | 'discarded' | undefined } | undefined;
  /** Turns the GitHub flavour (tables, strike, task lists, math) off; `table` leaves only tables as HTML. Default: false. */
  readonly noGfm?: 'table' | boolean | undefined;
  /** Cuts the Markdown at headings: `h1` to `h5` by depth, `s1` to `s5` with the headings above each piece. */
  readonly markdownChunking?: string | boolean | undefined;
  /** Keeps the first tokens of each of content, html and text, 500 at least. Unit: tokens. */
  readonly maxTokens?: number | undefined;
  /** Fails with BudgetExceededError when the answer would be charged more than this; 0 means no budget. Unit: tokens. */
  readonly tokenBudget?: number | undefined;
  /** Adds to the answer what the request went through and how long each step took: under `meta.trace` in JSON, as a last event `trace` of a stream, in the header `Server-Timing` otherwise. Costs nothing. Default: false. */
  readonly trace?: boolean | undefined;
  /** Adds to a JSON or stream answer what was left out of the page, by which rule, and which element each block of the Markdown comes from. Costs nothing; a text answer and one that a model writes have no room for it. Default: false. */
  readonly explain?: boolean | undefined;
  /** The language of the read. Every engine sends it as Accept-Language, and scripts of the page see it. Default: en-US. */
  readonly locale?: string | undefined;
  /** The referrer sent with the page request. */
  readonly referer?: string | undefined;
  /** The user agent; `lectern` names this program, `diversify` takes one of several browsers by host. Default: that of the browser. */
  readonly userAgent?: string | undefined;
  /** Cookies for the target, in Set-Cookie syntax. */
  readonly setCookies?: string | readonly string[] | undefined;
  /** Further headers sent to the target. */
  readonly customHeader?: Readonly<Record<string, string>> | undefined;
  /** Accepts certificates that do not verify. Default: false. */
  readonly skipCertVerification?: boolean | undefined;
  /** A proxy for this read: http, https, socks4 or socks5, with credentials when it needs them. */
  readonly proxyUrl?: string | undefined;
  /** A proxy of the operator: `any` or `true` for one wherever it is, a two-letter country code for one there, `auto` to leave the choice to the server. A trailing `+` asks for `proxyResources` too. Default: none. */
  readonly proxy?: string | undefined;
  /** Sends images and other resources of the page through the proxy too. */
  readonly proxyResources?: boolean | undefined;
  /** The agent name to hold against robots.txt (RFC 9309), `true` or `*` for any; what it forbids is refused. */
  readonly robotsTxt?: string | undefined;
  /** Fails unless the page answers with this HTTP status. */
  readonly assertStatusCode?: number | undefined;
  /** Reads the page anew. The result is still kept for others. Default: false. */
  readonly noCache?: boolean | undefined;
  /** The greatest age of a copy that may be answered; 0 reads anew. A greater one asks for copies even of pages that forbid them. Unit: s. Default: 3600. */
  readonly cacheTolerance?: number | undefined;
  /** Keeps the result out of the cache. Default: false. */
  readonly doNotTrack?: boolean | undefined;
  /** Keeps nothing of the read: no copy, no address or content in logs. Default: false. */
  readonly zeroDataRetention?: boolean | undefined;
  /** Answers with the cookies and local storage of the page, in JSON. */
  readonly exportStorageState?: boolean | undefined;
  /** Cookies and local storage to load before the page. */
  readonly storageState?: Readonly<Record<string, unknown>> | undefined;
  /** One page of a document, counted from 1. */
  readonly page?: number | undefined;
  /** What to ask of a language or vision model that reads the page. */
  readonly instruction?: string | undefined;
  /** The schema of the structured answer of a language model. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a search, and those of the reader for the pages that it finds. */
export interface SearchOptions extends Omit<ReadOptions, 'respondWith' | 'engine' | 'base' | 'preloadUrl' | 'withGeneratedAlt' | 'tokenBudget' | 'assertStatusCode' | 'exportStorageState' | 'page'> {
  /** What to answer with; several may be joined in JSON and stream output (`markdown+html`). `content` is the main content as Markdown, `markdown` the whole page, `html` the document, `text` its text, `frontmatter` Markdown under YAML metadata, `screenshot` and `pageshot` pictures. `vlm` (a vision model looks at the page), `readerlm-v2` (a language model rewrites its HTML), `svc-ocr` and `svc-ocr-v1` (text recognition) need a model that the operator has configured, and stand alone. `no-content` answers the results without reading any page. Default: content. */
  readonly respondWith?: string | undefined;
  /** How many results, 0 to 20. 0 reads no page and answers all that the provider lists. Default: 10. */
  readonly num?: number | undefined;
  /** Another name of `num`, which it goes before. */
  readonly count?: number | undefined;
  /** Which page of results. Default: 1. */
  readonly page?: number | undefined;
  /** What is searched for. Default: web. */
  readonly type?: 'web' | 'images' | 'news' | undefined;
  /** Who is asked: a provider of this server by its name, `google` or `bing` through one that has their results, `reader` (or `local`) for the pages that this server has read. Default: those of the server, in their order. */
  readonly provider?: string | undefined;
  /** Another name of `provider`, which goes before it. The header `X-Engine` is the engine that reads pages. */
  readonly engine?: string | undefined;
  /** The country that results are for, by its two letters. */
  readonly gl?: string | undefined;
  /** The language that results are in: `en`, `de`, `zh-cn`, `pt-br`, ... */
  readonly hl?: string | undefined;
  /** The place the search is made from, best a city; not every provider minds it. */
  readonly location?: string | undefined;
  /** The query is not corrected. Default: false. */
  readonly nfpr?: boolean | undefined;
  /** When the providers find nothing, the pages that this server has read are searched. Default: false. */
  readonly fallback?: boolean | undefined;
  /** Endings of the addresses. */
  readonly ext?: string | readonly string[] | undefined;
  /** File types: `pdf`. */
  readonly filetype?: string | readonly string[] | undefined;
  /** What the title must have. */
  readonly intitle?: string | readonly string[] | undefined;
  /** Countries of the pages, where a provider can tell. */
  readonly loc?: string | readonly string[] | undefined;
  /** Sites that results must be from. */
  readonly site?: string | readonly string[] | undefined;
  /** Only pages from this day on, where a provider can tell: `2026-01-31`. */
  readonly since?: string | undefined;
  /** Only pages from before this day, where a provider can tell. */
  readonly until?: string | undefined;
  /** Answers the best passages of all pages, together at most so many tokens, instead of whole pages. Unit: tokens. Default: whole pages; 4000 when it is only turned on. */
  readonly passages?: number | boolean | undefined;
  /** Adds the icon of each site, as a data URL; not in streams. Default: false. */
  readonly withFavicons?: boolean | undefined;
}

/** How a site is read. */
export interface CrawlRequest {
  /** Where to start. */
  readonly url?: string | undefined;
  /** Where to start, when there are several places; in place of `url`. */
  readonly urls?: string | readonly string[] | undefined;
  /** How many addresses are read at most; those that fail or turn out to be duplicates count, those that robots.txt forbids do not. Unit: pages. Default: 100. */
  readonly limit?: number | undefined;
  /** How many links away from where it starts; 0 reads nothing else. Addresses of sitemaps are one link away. Unit: links. Default: 3. */
  readonly depth?: number | undefined;
  /** How far links are followed: `path` below the folder of the start (of `/docs/intro` that is `/docs/`), `host` on its host, `domain` on all hosts of its registrable domain. Default: path. */
  readonly scope?: 'path' | 'host' | 'domain' | undefined;
  /** Only addresses that fit one of these are followed: globs (`/docs/**`, `*.pdf`, `https://a.example/*`), or regular expressions between slashes (`/\/v[0-9]+\//`). */
  readonly include?: string | readonly string[] | undefined;
  /** Addresses that fit one of these are not followed. */
  readonly exclude?: string | readonly string[] | undefined;
  /** Reads the sitemaps that robots.txt names, or /sitemap.xml, indexes and packed ones included; what they name within the scope is read first. Default: true. */
  readonly sitemap?: boolean | undefined;
  /** Keeps to robots.txt (as `lectern`) with its Crawl-delay, and follows no link that asks not to be followed. Default: true. */
  readonly robots?: boolean | undefined;
  /** The pause between two reads of a host; a longer Crawl-delay wins. Unit: ms. Default: that of the server, 500 unless the operator says otherwise. */
  readonly delayMs?: number | undefined;
  /** How many pages of one host are read at once. Default: 1. */
  readonly concurrency?: number | undefined;
  /** Options of the reader for every page, by their names in a body: `{"preset": "spider"}`. */
  readonly options?: ReadOptions | undefined;
  /** Of an answer that is a stream: whether the crawl ends when the client leaves. Otherwise it goes on. Default: false. */
  readonly cancelOnClose?: boolean | undefined;
}

/** A request for vectors. */
export interface EmbedRequest {
  /** The id of a served model (`GET /v1/models`), short or behind its organisation. */
  readonly model?: string | undefined;
  /** What to embed: a string, `{text}`, `{image}`, `{audio}`, `{video}`, or a list of them, one vector each; `{pdf}` alone, a vector a page; `{content: […]}`, one vector of several parts. Media are an address, a data URI or base64. */
  readonly input: string | { readonly text: string } | { readonly image: string } | { readonly audio: string } | { readonly video: string } | Readonly<Record<string, unknown>> | { readonly url: string } | { readonly bytes: string } | { readonly content: readonly (string | { readonly text: string } | { readonly image: string } | { readonly audio: string } | { readonly video: string } | Readonly<Record<string, unknown>>)[] } | { readonly pdf: string } | readonly (string | { readonly text: string } | { readonly image: string } | { readonly audio: string } | { readonly video: string } | Readonly<Record<string, unknown>> | { readonly url: string } | { readonly bytes: string } | { readonly content: readonly (string | { readonly text: string } | { readonly image: string } | { readonly audio: string } | { readonly video: string } | Readonly<Record<string, unknown>>)[] })[];
  /** What the vectors are for; it picks the text that the model wants in front of each input. */
  readonly task?: string | undefined;
  /** The length of the vectors, for models that were trained to be cut. Default: the whole vector. */
  readonly dimensions?: number | undefined;
  /** Whether vectors have unit length. Default: true. */
  readonly normalized?: boolean | undefined;
  /** How vectors are written. Several at once make an object with one entry each. Default: float. */
  readonly embedding_type?: 'float' | 'base64' | 'binary' | 'ubinary' | readonly ('float' | 'base64' | 'binary' | 'ubinary')[] | undefined;
  /** Whether an input that is longer than the model takes is cut at its end instead of refused. Default: false. */
  readonly truncate?: boolean | undefined;
  /** Whether the inputs are one document in order, read as a whole before each gets its vector. Default: false. */
  readonly late_chunking?: boolean | undefined;
  /** Whether each token gets a vector. Default: false. */
  readonly return_multivector?: boolean | undefined;
  /** Whether the tokens are returned beside their vectors. Default: false. */
  readonly return_tokenized_input?: boolean | undefined;
  /** `query` or `document` (also `search_query`, `search_document`): the side of a search, when there is no task. Default: document. */
  readonly input_type?: string | undefined;
}

/** A request for documents in their order. */
export interface RerankRequest {
  /** The id of a served reranker (`GET /v1/models`), short or behind its organisation. */
  readonly model?: string | undefined;
  /** What is looked for. */
  readonly query: string | { readonly text: string };
  /** What is ranked: strings, or objects with `text` that are returned as they came. */
  readonly documents: readonly (string | { readonly text: string })[];
  /** How many results there are at most. Default: all. */
  readonly top_n?: number | undefined;
  /** Whether each result carries its document. Default: true. */
  readonly return_documents?: boolean | undefined;
  /** Whether documents that are longer than the model takes are read in windows, of which the best counts, instead of refused. Default: true. */
  readonly truncation?: boolean | undefined;
  /** Accepted for rerankers that cut documents; those here read them whole. */
  readonly max_doc_length?: number | undefined;
  /** Refused when on: the rerankers here make no vectors. */
  readonly return_embeddings?: boolean | undefined;
}
