/** Pages that were read, as a person would read them. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ForeignDocument } from './foreign.tsx';
import { renderMarkdown, type Written } from './markdown.ts';
import type { Page } from './result.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function PageView({ page }: { page: Page }) {
  const address = text(page.url);
  const picture = text(page.pageshotUrl) || text(page.screenshotUrl);
  return (
    <article class="page">
      {text(page.title) && !repeatsTitle(page) && <h2 class="title">{text(page.title)}</h2>}
      <p class="source">
        <Address url={address} />
        {text(page.publishedTime) && <span>{text(page.publishedTime)}</span>}
      </p>
      {text(page.warning) && <p class="warning">{text(page.warning)}</p>}
      {picture && <Picture address={picture} />}
      {text(page.content) && <Markdown text={text(page.content)} />}
      {text(page.html) && <ForeignDocument html={text(page.html)} />}
      {text(page.text) && <pre class="text">{text(page.text)}</pre>}
    </article>
  );
}

/** Many pages have their title as their first heading. */
const repeatsTitle = (page: Page) => text(page.content).startsWith(`# ${text(page.title)}\n`);

export function Address({ url }: { url: string }) {
  if (!/^https?:/.test(url)) return <span>{url}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {url}
    </a>
  );
}

/** Pictures lie on this server for a while, or stand in the answer. */
function Picture({ address }: { address: string }) {
  const isShown = address.startsWith('data:image/') || address.startsWith(`${location.origin}/`);
  return isShown ? <img class="shot" src={address} alt="The page as it looked" /> : <Address url={address} />;
}

/** As much as is laid out at once. */
const PIECE = 25_000;

export function Markdown({ text }: { text: string }) {
  const [most, setMost] = useState(PIECE);
  const shown = text.length > most ? text.slice(0, most) : text;
  const written = useWritten(shown);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(...(written?.content ? [written.content] : [])), [written]);
  return (
    <>
      {written?.frontmatter && <pre class="frontmatter">{written.frontmatter}</pre>}
      <div class="prose" ref={place} />
      {written && !written.content && written.source === shown && (
        <>
          <p class="meaning">Its Markdown is more than can be laid out here: this is its text.</p>
          <pre class="text">{shown}</pre>
        </>
      )}
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setMost(most * 2)}>
          {(text.length - most).toLocaleString('en')} characters more
        </button>
      )}
    </>
  );
}

/** The text as it reads; while one is being written the one before it, and of several that came meanwhile the last. */
function useWritten(text: string): Written | undefined {
  const [written, setWritten] = useState<Written>();
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

export function ResultList({ pages }: { pages: readonly Page[] }) {
  return (
    <ol class="results">
      {pages.map((page, index) => (
        <li key={index}>
          <h3>
            {text(page.title) || text(page.url)}
            {text(page.date) && <time>{text(page.date)}</time>}
          </h3>
          <p class="source">
            <Address url={text(page.url)} />
          </p>
          {text(page.description) && <p class="description">{text(page.description)}</p>}
          {text(page.content) ? (
            <details open={pages.length === 1}>
              <summary>{wordsIn(text(page.content))} words</summary>
              <Markdown text={text(page.content)} />
            </details>
          ) : (
            <p class="meaning">Not read.</p>
          )}
        </li>
      ))}
    </ol>
  );
}

const wordsIn = (content: string) => content.split(/\s+/).length.toLocaleString('en');
