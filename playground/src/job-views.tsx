/** Views of crawls, batch jobs and flows. */
import type { ComponentChildren } from 'preact';
import { type Fields, isRecord } from './fields.ts';
import { PageUrl, ResultList } from './page-view.tsx';
import type { Answer } from './send.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function CrawlView({ answer: { events } }: { answer: Answer }) {
  const dataOf = (name: string) =>
    events.flatMap(({ event, data }) => (event === name && isRecord(data) ? [data] : []));
  const pages = dataOf('page').flatMap(({ page }) => (isRecord(page) ? [page] : []));
  return (
    <>
      {pages.length > 0 && <ResultList pages={pages} isOpen={false} />}
      <Others title="Failed" all={dataOf('failed')}>
        {({ error }) => (isRecord(error) ? textOf(error.message) : '')}
      </Others>
      <Others title="Skipped" all={dataOf('skipped')}>
        {({ reason, of, to }) => [reason, of, to].map(textOf).filter(Boolean).join(' ')}
      </Others>
    </>
  );
}

interface OthersProps {
  readonly title: string;
  readonly all: readonly Fields[];
  readonly children: (outcome: Fields) => string;
}

function Others({ title, all, children }: OthersProps) {
  if (all.length === 0) return null;
  return (
    <details class="others">
      <summary>
        {title} <span class="count">{all.length}</span>
      </summary>
      <ul>
        {all.map((outcome, at) => (
          <li key={at}>
            <PageUrl url={textOf(outcome.url)} /> <span class="meaning">{children(outcome)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const MAX_LINES = 200;
const MAX_NUMBERS = 8;

export function BatchView({ answer: { events, json } }: { answer: Answer }) {
  if (events.length === 0) {
    return <p class="meaning">The job is {isRecord(json) ? textOf(json.status) : 'submitted'}.</p>;
  }
  return (
    <>
      <ol class="vectors">
        {events.slice(0, MAX_LINES).map(({ event, data }, at) => (
          <BatchLineView key={at} line={isRecord(data) ? data : {}} isError={event === 'errors'} />
        ))}
      </ol>
      {events.length > MAX_LINES && (
        <p class="meaning">{(events.length - MAX_LINES).toLocaleString('en')} more lines: see “JSON”.</p>
      )}
    </>
  );
}

function BatchLineView({ line, isError }: { line: Fields; isError: boolean }) {
  const { custom_id, error, response } = line;
  if (isError) return <LineItem name={textOf(custom_id)}>{isRecord(error) ? textOf(error.message) : ''}</LineItem>;
  const body = isRecord(response) && isRecord(response.body) ? response.body : {};
  const [first] = Array.isArray(body.data) ? body.data : [];
  const vector = isRecord(first) ? first.embedding : undefined;
  if (!Array.isArray(vector)) return <LineItem name={textOf(custom_id)}>{String(vector).slice(0, 80)}</LineItem>;
  return (
    <LineItem name={textOf(custom_id)}>
      <code>
        {vector
          .slice(0, MAX_NUMBERS)
          .map((value) => Number(value).toFixed(3))
          .join('  ')}{' '}
        …
      </code>
      <span class="count">{vector.length} numbers</span>
    </LineItem>
  );
}

function LineItem({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <li>
      <span class="words">{name}</span>
      {children}
    </li>
  );
}

export function FlowView({ body }: { body: Fields }) {
  const documents = Array.isArray(body.data) ? body.data.filter(isRecord) : [];
  if (documents.length === 0) return <p class="meaning">The flow returned no documents.</p>;
  return <Documents documents={documents} />;
}

function Documents({ documents }: { documents: readonly Fields[] }) {
  return (
    <ol class="results">
      {documents.map((document, at) => (
        <li key={at}>
          {textOf(document.uri) && (
            <p class="source">
              <PageUrl url={textOf(document.uri)} />
            </p>
          )}
          {textOf(document.text) && <p class="description">{textOf(document.text)}</p>}
          <Scores scores={document.scores} />
          {Array.isArray(document.matches) && document.matches.length > 0 && (
            <Documents documents={document.matches.filter(isRecord)} />
          )}
        </li>
      ))}
    </ol>
  );
}

function Scores({ scores }: { scores: unknown }) {
  if (!isRecord(scores)) return null;
  const values = Object.entries(scores).flatMap(([name, score]) => {
    const value = isRecord(score) ? score.value : score;
    return typeof value === 'number' ? [`${name} ${value.toFixed(4)}`] : [];
  });
  return values.length > 0 ? <p class="meaning">{values.join(', ')}</p> : null;
}
