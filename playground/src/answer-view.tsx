/** The response panel: views of a response, and a status line with time and tokens. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Call } from './call.ts';
import { CodeView } from './code-view.tsx';
import { CopyButton } from './copy-button.tsx';
import { ExplanationView } from './explanation-view.tsx';
import { isRecord } from './fields.ts';
import { BatchView, CrawlView, FlowView } from './job-views.tsx';
import { JsonView } from './json-view.tsx';
import { RankingView, VectorsView } from './model-views.tsx';
import { Markdown, PageView, ResultList } from './page-view.tsx';
import { type Progress, progressOf } from './progress.ts';
import { Prose } from './prose.tsx';
import { metadataFacts, type Result, resultOf } from './result.ts';
import { Scrollable } from './scrollable.tsx';
import type { Answer, Failure } from './send.ts';
import { TabList } from './tab-list.tsx';
import { type TabName, tabOf } from './tabs.ts';
import { TraceView } from './trace-view.tsx';

const VIEWS = {
  answer: 'Answer',
  raw: 'Raw',
  json: 'JSON',
  events: 'Events',
  removed: 'Removed',
  trace: 'Trace',
  code: 'Code',
} as const;
type View = keyof typeof VIEWS;

interface AnswerViewProps {
  readonly tab: TabName;
  readonly answer: Answer | undefined;
  /** The current request; `undefined` while the form is invalid. */
  readonly call: Call | undefined;
  readonly draftError: string | undefined;
  readonly withKey: boolean;
  /** Sends the request again with an option enabled; `undefined` if the form lacks the option. */
  readonly resendWith: ((option: 'explain' | 'trace') => void) | undefined;
  readonly supportsTrace: boolean;
}

export function AnswerView(props: AnswerViewProps) {
  const { tab, answer, call, draftError, withKey, resendWith } = props;
  const [wanted, setWanted] = useState<View>('answer');
  const result = useMemo(() => answer && resultOf(answer), [answer]);
  const views = viewsFor(props, result);
  const view = views.includes(wanted) ? wanted : views[0]!;
  const tabs = views.map((name) => ({ name, title: VIEWS[name], note: noteFor(name, answer) }));
  return (
    <section class="answer" aria-label="Answer">
      <TabList id="view" label="Views of the answer" tabs={tabs} chosen={view} choose={setWanted} />
      {answer && result && <StatusLine answer={answer} result={result} />}
      <div
        id="view-panel"
        role="tabpanel"
        aria-labelledby={`view-tab-${view}`}
        data-view={view}
        aria-busy={answer?.state === 'running'}
      >
        {view === 'code' && <CodeView call={call} draftError={draftError} withKey={withKey} />}
        {view === 'answer' && !answer && <EmptyAnswer tab={tab} />}
        {view === 'answer' && answer?.failure && <FailureView failure={answer.failure} />}
        {view === 'answer' && answer && result && <Rendered answer={answer} result={result} />}
        {view === 'raw' && answer && result && <Raw text={rawOf(answer, result)} />}
        {view === 'json' && answer && <JsonView value={answer.json ?? answer.events.at(-1)?.data} />}
        {view === 'events' && answer && <Events answer={answer} />}
        {view === 'removed' && (
          <ExplanationView
            explanation={explanationIn(result)}
            ask={resendWith && call?.answer !== 'text' ? () => resendWith('explain') : undefined}
          />
        )}
        {view === 'trace' && <Trace result={result} ask={resendWith && (() => resendWith('trace'))} />}
      </div>
    </section>
  );
}

function viewsFor({ tab, answer, supportsTrace }: AnswerViewProps, result: Result | undefined): View[] {
  if (!answer || !result) return ['answer', 'code'];
  const views: View[] = ['answer', 'raw'];
  if (typeof answer.json === 'object' || answer.events.length > 0) views.push('json');
  if (answer.events.length > 0) views.push('events');
  if (tab === 'read') views.push('removed');
  if (result.trace || supportsTrace) views.push('trace');
  return [...views, 'code'];
}

const noteFor = (view: View, answer: Answer | undefined): string | undefined =>
  view === 'events' && answer ? String(answer.events.length) : undefined;

const explanationIn = (result: Result | undefined) => {
  const explanation = result?.pages[0]?.explanation;
  return isRecord(explanation) ? explanation : undefined;
};

function EmptyAnswer({ tab }: { tab: TabName }) {
  return (
    <div class="invitation">
      <p>{tabOf(tab).hint}</p>
      <p class="keys">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops, <kbd>/</kbd> searches options.
      </p>
    </div>
  );
}

function StatusLine({ answer, result }: { answer: Answer; result: Result }) {
  const { state, status, firstByteMs } = answer;
  const ms = useElapsedMs(answer);
  const progress = progressOf(answer);
  const facts: (readonly [string, string])[] = [
    ...(status ? [['Status', String(status)] as const] : []),
    ['Time', formatMs(ms)],
    ...(progress ? [['Progress', `${progress.done} of ${progress.total} ${progress.unit}`] as const] : []),
    ...(firstByteMs !== undefined ? [['First byte', formatMs(firstByteMs)] as const] : []),
    ...(result.tokens !== undefined ? [['Tokens', result.tokens.toLocaleString('en')] as const] : []),
    ...metadataFacts(answer, result),
  ];
  return (
    <div class={`status ${state}`} role="status">
      <span class="state">{STATES[state]}</span>
      {state === 'running' && <ProgressBar progress={progress} />}
      {/* Screen readers announce the state, not every tick. */}
      <dl aria-live={state === 'running' ? 'off' : undefined}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Without a value, the bar moves but shows no share. */
function ProgressBar({ progress }: { progress: Progress | undefined }) {
  const known = progress && progress.total > 0 ? { value: progress.done, max: progress.total } : {};
  return <progress aria-label="Progress" {...known} />;
}

const TICK_MS = 100;

/** The time since the request was sent, which moves while it runs. */
function useElapsedMs({ state, startedAt, ms }: Answer): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (state !== 'running') return;
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [state, startedAt]);
  return state === 'running' ? Math.max(ms, now - startedAt) : ms;
}

const STATES: Readonly<Record<Answer['state'], string>> = {
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
};

const formatMs = (ms: number) => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

function FailureView({ failure: { title, message, path, facts, hint } }: { failure: Failure }) {
  return (
    <div class="failure" role="alert">
      <h2>{title}</h2>
      <p>
        {path && (
          <>
            <code>{path}</code>:{' '}
          </>
        )}
        {message}
      </p>
      {hint && (
        <p class="hint">
          <Prose text={hint} />
        </p>
      )}
      <dl class="facts-list">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Rendered({ answer, result }: { answer: Answer; result: Result }) {
  const { call, picture } = answer;
  if (picture) return <img class="shot" src={picture} alt="Answer of the server" />;
  if (call.tab === 'embed' && Array.isArray(result.body.data)) {
    return <VectorsView body={result.body} texts={textsIn(call.target.input)} />;
  }
  if (call.tab === 'rerank' && Array.isArray(result.body.results)) {
    return <RankingView body={result.body} documents={textsIn(call.target.documents)} />;
  }
  if (call.tab === 'crawl') return <CrawlView answer={answer} />;
  if (call.tab === 'batch' && !answer.failure) return <BatchView answer={answer} />;
  if (call.tab === 'flow' && !answer.failure) return answer.json ? <FlowView body={result.body} /> : null;
  if (call.tab === 'ocr' && !answer.failure) return <Recognized answer={answer} text={result.text ?? ''} />;
  if (result.text !== undefined && result.text !== '') return <Markdown text={result.text} />;
  if (call.tab === 'read') return result.pages[0] ? <PageView page={result.pages[0]} /> : null;
  // Passages are short, and they are what was asked for. Pages of a search may be long.
  const isOpen = call.tab === 'ask' || call.options.passages !== undefined;
  return <ResultList pages={result.pages} isOpen={isOpen} />;
}

const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function Recognized({ answer, text }: { answer: Answer; text: string }) {
  if (text === '' && answer.state === 'done') return <p class="meaning">No text found.</p>;
  const form = answer.call.options.output_format ?? 'markdown';
  return form === 'markdown' ? <Markdown text={text} /> : <pre class="text">{text}</pre>;
}

function rawOf({ text, json }: Answer, { pages, text: found }: Result): string {
  const [page] = pages;
  if (pages.length === 1) {
    for (const part of [page?.content, page?.html, page?.text]) if (typeof part === 'string') return part;
  }
  return found ?? (json === undefined ? text : JSON.stringify(json, null, 2));
}

const MAX_RAW_CHARACTERS = 200_000;

function Raw({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, MAX_RAW_CHARACTERS);
  return (
    <div class="raw">
      <CopyButton text={text} />
      <Scrollable label="Raw answer">
        <pre>{shown}</pre>
      </Scrollable>
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  );
}

const MAX_EVENTS = 200;

function Events({ answer: { events } }: { answer: Answer }) {
  const hidden = Math.max(events.length - MAX_EVENTS, 0);
  return (
    <ol class="events" start={hidden + 1}>
      {events.slice(hidden).map(({ event, data, text, atMs }, index) => (
        <li key={hidden + index}>
          <details>
            <summary>
              <code>{event}</code>
              <span class="at">{formatMs(atMs)}</span>
              <span class="count">{text.length.toLocaleString('en')} characters</span>
              <span class="words">{previewOf(data)}</span>
            </summary>
            <JsonView value={data} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function previewOf(data: unknown): string {
  if (Array.isArray(data))
    return `${data.length} results, ${data.filter((one) => isRecord(one) && one.content).length} read`;
  if (!isRecord(data)) return String(data).slice(0, 80);
  return String(data.title || data.content || data.message || '').slice(0, 80);
}

function Trace({ result, ask }: { result: Result | undefined; ask: (() => void) | undefined }) {
  if (result?.trace) return <TraceView trace={result.trace} />;
  return (
    <div class="invitation">
      <p>See how long each step of the request took.</p>
      {ask && (
        <button type="button" class="primary" onClick={ask}>
          Trace this request
        </button>
      )}
    </div>
  );
}
