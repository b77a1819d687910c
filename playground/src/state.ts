/**
 * State of the forms, and its representation in the URL fragment. Keys, files and options with secrets are never part
 * of the URL.
 */
import { ANSWER_FORMS, type AnswerForm, isTab, TABS, type TabName } from './tabs.ts';

export type Values = Readonly<Record<string, string>>;

/** The contents of a tab: inputs, changed options and the response format. */
export interface Draft {
  readonly inputs: Values;
  readonly options: Values;
  readonly answer: AnswerForm;
}

export interface State {
  readonly tab: TabName;
  readonly drafts: Readonly<Record<TabName, Draft>>;
}

/** Longer texts would make the URL too long to share. */
const MAX_SHARED_CHARACTERS = 20_000;

/** Options that may contain passwords or session data. URLs are shared and stored in the browser history. */
const SECRET_OPTIONS = ['setCookies', 'customHeader', 'proxyUrl', 'storageState'];

const emptyDraft = (tab: TabName): Draft => ({ inputs: {}, options: {}, answer: ANSWER_FORMS[tab][0]! });

export const emptyState = (): State => ({
  tab: 'read',
  drafts: Object.fromEntries(TABS.map(({ name }) => [name, emptyDraft(name)])) as Record<TabName, Draft>,
});

export const draftOf = ({ tab, drafts }: State): Draft => drafts[tab];

/** Returns the state with the draft of the open tab changed. */
export const withDraft = (state: State, change: Partial<Draft>): State => ({
  ...state,
  drafts: { ...state.drafts, [state.tab]: { ...draftOf(state), ...change } },
});

/** Returns a copy of the values with one value set, or removed if it is undefined. */
export function withValue(values: Values, name: string, value: string | undefined): Values {
  const { [name]: _, ...others } = values;
  return value === undefined ? others : { ...others, [name]: value };
}

const INPUT = 'in.';
const OPTION = 'opt.';

/** Returns the URL fragment for a state, without `#`: the open tab and its contents. */
export function fragmentOf(state: State): string {
  const { inputs, options, answer } = draftOf(state);
  const written = new URLSearchParams({ tab: state.tab });
  if (answer !== ANSWER_FORMS[state.tab][0]) written.set('answer', answer);
  for (const [name, value] of Object.entries(inputs)) {
    if (value !== '' && value.length <= MAX_SHARED_CHARACTERS) written.set(INPUT + name, value);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value.length <= MAX_SHARED_CHARACTERS && !SECRET_OPTIONS.includes(name)) written.set(OPTION + name, value);
  }
  return written.toString();
}

/** Applies a URL fragment to a state; ignores anything unknown. */
export function withFragment(state: State, fragment: string): State {
  const read = new URLSearchParams(fragment.replace(/^#/, ''));
  const tab = read.get('tab');
  if (!isTab(tab)) return state;
  const under = (prefix: string): Values =>
    Object.fromEntries(
      [...read].flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])),
    );
  const answer = ANSWER_FORMS[tab].find((form) => form === read.get('answer')) ?? ANSWER_FORMS[tab][0]!;
  const draft: Draft = { inputs: under(INPUT), options: under(OPTION), answer };
  return { tab, drafts: { ...state.drafts, [tab]: draft } };
}
