/** Views for reading pages and search results. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type RenderedMarkdown, renderMarkdown } from './markdown.ts';
import type { Page } from './result.ts';
import { UntrustedDocument } from './untrusted-document.tsx';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function PageView({ page }: { page: Page }) {
  const url = text(page.url);
  const picture = text(page.pageshotUrl) || text(page.screenshotUrl);
  return (
    <article class="page">
      {text(page.title) && !repeatsTitle(page) && <h2 class="title">{text(page.title)}</h2>}
      <p class="source">
        <PageUrl url={url} />
        {text(page.publishedTime) && <span>{text(page.publishedTime)}</span>}
      </p>
      {text(page.warning) && <p class="warning">{text(page.warning)}</p>}
      {picture && <Picture url={picture} />}
      {text(page.content) && <Markdown text={text(page.content)} />}
      {text(page.html) && <UntrustedDocument html={text(page.html)} />}
      {text(page.text) && <pre class="text">{text(page.text)}</pre>}
    </article>
  );
}

/** Many pages have their title as their first heading. */
const repeatsTitle = (page: Page) => text(page.content).startsWith(`# ${text(page.title)}\n`);

export function PageUrl({ url }: { url: string }) {
  if (!/^https?:/.test(url)) return <span>{url}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {url}
    </a>
  );
}

/** Shows screenshots that come from this server or are part of the response. Links to all others. */
function Picture({ url }: { url: string }) {
  const isShown = url.startsWith('data:image/') || url.startsWith(`${location.origin}/`);
  return isShown ? <img class="shot" src={url} alt="Screenshot of the page" /> : <PageUrl url={url} />;
}

/** Number of characters rendered at once. */
const PAGE_SIZE = 25_000;

export function Markdown({ text }: { text: string }) {
  const [most, setMost] = useState(PAGE_SIZE);
  const shown = text.length > most ? text.slice(0, most) : text;
  const written = useRenderedMarkdown(shown);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(...(written?.content ? [written.content] : [])), [written]);
  return (
    <>
      {written?.frontmatter && <pre class="frontmatter">{written.frontmatter}</pre>}
      <div class="prose" ref={place} />
      {written && !written.content && written.source === shown && (
        <>
          <p class="meaning">This Markdown is too large to render; shown as text.</p>
          <pre class="text">{shown}</pre>
        </>
      )}
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setMost(most * 2)}>
          Show {(text.length - most).toLocaleString('en')} more characters
        </button>
      )}
    </>
  );
}

/** Returns the rendered text. During rendering, returns the previous result and queues only the latest text. */
function useRenderedMarkdown(text: string): RenderedMarkdown | undefined {
  const [written, setWritten] = useState<RenderedMarkdown>();
  const place = useRef({ wanted: text, isBusy: false, isGone: false }).current;
  place.wanted = text;
  useEffect(() => {
    const write = async () => {
      place.isBusy = true;
      for (let done: string | undefined; done !== place.wanted && !place.isGone; ) {
        done = place.wanted;
        const now = await renderMarkdown(done);
        if (!place.isGone) setWritten(now);
      }
      place.isBusy = false;
    };
    if (!place.isBusy) void write();
  }, [text]);
  useEffect(
    () => () => {
      place.isGone = true;
    },
    [],
  );
  return written;
}

export function ResultList({ pages, isOpen }: { pages: readonly Page[]; isOpen: boolean }) {
  return (
    <ol class="results">
      {pages.map((page, index) => (
        <li key={index}>
          <h3>
            {text(page.title) || text(page.url)}
            {text(page.date) && <time>{text(page.date)}</time>}
          </h3>
          <p class="source">
            <PageUrl url={text(page.url)} />
          </p>
          {text(page.description) && <p class="description">{text(page.description)}</p>}
          {text(page.content) ? (
            <details open={isOpen || pages.length === 1}>
              <summary>{wordsIn(text(page.content))} words</summary>
              <Markdown text={text(page.content)} />
            </details>
          ) : (
            <p class="meaning">Page not read.</p>
          )}
        </li>
      ))}
    </ol>
  );
}

const wordsIn = (content: string) => content.split(/\s+/).length.toLocaleString('en');
