/** The playground page: tabs, request form and response. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import { AnswerView } from './answer-view.tsx';
import { buildCall, type Call, type ChosenFile, DraftError } from './call.ts';
import { CopyAs } from './copy-as.tsx';
import { Inputs } from './inputs.tsx';
import { KeyField } from './key-field.tsx';
import { KEY_STORE } from './key-store.ts';
import { listModels, type Model, modelsFor } from './models.ts';
import { focusOptionSearch, OptionsForm, WIDE_SCREEN } from './options-form.tsx';
import { type Answer, send } from './send.ts';
import { useShortcuts } from './shortcuts.ts';
import {
  type Draft,
  draftOf,
  emptyState,
  fragmentOf,
  type State,
  withDraft,
  withFragment,
  withValue,
} from './state.ts';
import { TabList } from './tab-list.tsx';
import { ANSWER_FORMS, type AnswerForm, FORMS_OF_ANSWER, TABS, type TabName, tabOf } from './tabs.ts';

export function App({ setup }: { setup: PlaygroundSetup }) {
  const [state, setState] = useSharedState();
  const [apiKey, setApiKey] = useState(() => sessionStorage.getItem(KEY_STORE) ?? '');
  const [files, setFiles] = useState<Partial<Record<TabName, ChosenFile>>>({});
  const [answers, setAnswers] = useState<Partial<Record<TabName, Answer>>>({});
  const [refusal, setRefusal] = useState<DraftError>();
  const models = useModels(setup.faces.models);
  const running = useRef<AbortController>(undefined);
  const panel = useRef<HTMLDivElement>(null);

  const { tab } = state;
  const draft = draftOf(state);
  const form = tabOf(tab).form;
  const fields = setup.forms[form];
  const fitting = useMemo(() => modelsFor(tab, models), [tab, models]);
  const answer = answers[tab];
  const isRunning = answer?.state === 'running';
  const ready = useMemo(
    () => attempt(tab, draft, { setup, file: files[tab], defaultModel: fitting[0]?.id }),
    [tab, draft, setup, files, fitting],
  );

  const change = (part: Partial<Draft>) => {
    setRefusal(undefined);
    setState((before) => withDraft(before, part));
  };
  const storeKey = (key: string) => {
    setApiKey(key);
    if (key) sessionStorage.setItem(KEY_STORE, key);
    else sessionStorage.removeItem(KEY_STORE);
  };
  const run = (call: Call | DraftError) => {
    if (call instanceof DraftError) return setRefusal(call);
    setRefusal(undefined);
    running.current?.abort();
    const stopper = new AbortController();
    running.current = stopper;
    if (!matchMedia(WIDE_SCREEN).matches) panel.current?.scrollIntoView({ block: 'start' });
    void send(call, {
      apiKey,
      signal: stopper.signal,
      onAnswer: (answer) => setAnswers((before) => ({ ...before, [call.tab]: answer })),
    });
  };
  const stop = () => running.current?.abort();
  const resendWith = (option: 'explain' | 'trace') => {
    const changed = { ...draft, options: withValue(draft.options, option, 'true') };
    change(changed);
    run(attempt(tab, changed, { setup, file: files[tab], defaultModel: fitting[0]?.id }));
  };
  useShortcuts({ send: () => run(ready), stop, search: focusOptionSearch });

  const supports = (option: string) => fields.some(({ name }) => name === option);
  const invalidField = refusal?.field ?? (answer?.state === 'failed' ? answer.failure?.path : undefined);
  const keyNeeded = !apiKey && setup.keyNeeded[FACES[form]];
  return (
    <>
      <header class="top">
        <p class="brand">
          Lectern <span class="count">{setup.version}</span>
        </p>
        <nav aria-label="Site">
          <a href="/docs">Documentation</a> <a href="/docs/api">API</a>
        </nav>
        <KeyField value={apiKey} change={storeKey} isNeeded={keyNeeded} />
      </header>
      <section aria-label="Operations">
        <TabList
          id="face"
          label="Operation"
          tabs={TABS}
          chosen={tab}
          choose={(name) => {
            setRefusal(undefined);
            setState((before) => ({ ...before, tab: name }));
          }}
        />
      </section>
      <main>
        <div id="face-panel" class="split" role="tabpanel" aria-labelledby={`face-tab-${tab}`}>
          <form
            class="request"
            aria-label="Request"
            onSubmit={(event) => {
              event.preventDefault();
              run(ready);
            }}
          >
            <h1>{tabOf(tab).heading}</h1>
            <Inputs
              key={tab}
              tab={tab}
              values={draft.inputs}
              set={(name, value) => change({ inputs: withValue(draft.inputs, name, value) })}
              file={files[tab]}
              chooseFile={(file) => setFiles((before) => ({ ...before, [tab]: file }))}
              models={fitting}
              invalidField={invalidField}
            />
            <div class="actions">
              <button type="submit" class="primary" disabled={isRunning}>
                Send
              </button>
              <button type="button" class="stop" hidden={!isRunning} onClick={stop}>
                Stop
              </button>
              <AnswerForms tab={tab} chosen={draft.answer} choose={(form) => change({ answer: form })} />
              <span class="switches">
                {supports('explain') && tab === 'read' && (
                  <Switch option="explain" title="explain" draft={draft} change={change} />
                )}
                {supports('trace') && <Switch option="trace" title="trace" draft={draft} change={change} />}
              </span>
            </div>
            <CopyAs
              key={`copy-${tab}`}
              call={ready instanceof DraftError ? undefined : ready}
              withKey={apiKey !== '' || setup.keyNeeded[FACES[form]]}
            />
            {refusal && (
              <p class="refusal" role="alert">
                {refusal.message}
              </p>
            )}
            <OptionsForm
              key={`options-${tab}`}
              fields={fields}
              presets={setup.presets}
              values={draft.options}
              change={(options) => change({ options })}
              invalidField={invalidField}
            />
          </form>
          <div ref={panel}>
            <AnswerView
              key={`answer-${tab}`}
              tab={tab}
              answer={answer}
              call={ready instanceof DraftError ? undefined : ready}
              draftError={ready instanceof DraftError ? ready.message : undefined}
              withKey={apiKey !== '' || setup.keyNeeded[FACES[form]]}
              resendWith={resendWith}
              supportsTrace={supports('trace')}
            />
          </div>
        </div>
      </main>
    </>
  );
}

const FACES = {
  read: 'reader',
  crawl: 'crawl',
  search: 'search',
  embed: 'models',
  rerank: 'models',
  ocr: 'models',
  batch: 'models',
  flow: 'flow',
} as const;

function attempt(...given: Parameters<typeof buildCall>): Call | DraftError {
  try {
    return buildCall(...given);
  } catch (error) {
    if (error instanceof DraftError) return error;
    throw error;
  }
}

/** Synchronizes the state with the URL fragment. A fragment never triggers a request. */
function useSharedState() {
  const [state, setState] = useState<State>(() => withFragment(emptyState(), location.hash));
  useEffect(() => {
    const follow = () => setState((before) => withFragment(before, location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => history.replaceState(null, '', `#${fragmentOf(state)}`), 150);
    return () => clearTimeout(timer);
  }, [state]);
  return [state, setState] as const;
}

function useModels(base: string | null): readonly Model[] {
  const [models, setModels] = useState<readonly Model[]>([]);
  const load = useCallback(async () => {
    // If the list is unavailable, the user can still type a model id.
    if (base) setModels(await listModels(base).catch(() => []));
  }, [base]);
  useEffect(() => void load(), [load]);
  return models;
}

interface AnswerFormsProps {
  readonly tab: TabName;
  readonly chosen: AnswerForm;
  readonly choose: (form: AnswerForm) => void;
}

function AnswerForms({ tab, chosen, choose }: AnswerFormsProps) {
  const forms = ANSWER_FORMS[tab];
  if (forms.length === 1) return null;
  return (
    <fieldset class="segments">
      <legend class="hidden">Answer format</legend>
      {forms.map((form) => (
        <label key={form} class="pill">
          <input type="radio" name="answer" checked={chosen === form} onChange={() => choose(form)} />
          {FORMS_OF_ANSWER[form]}
        </label>
      ))}
    </fieldset>
  );
}

interface SwitchProps {
  readonly option: string;
  readonly title: string;
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

function Switch({ option, title, draft, change }: SwitchProps) {
  const isOn = draft.options[option] === 'true';
  return (
    <label class="pill">
      <input
        type="checkbox"
        checked={isOn}
        onChange={() => change({ options: withValue(draft.options, option, isOn ? undefined : 'true') })}
      />
      {title}
    </label>
  );
}
