/** What a person has set, and how it stands in the fragment of the address. Keys, files and what may hold a secret never do. */
import { ANSWER_FORMS, type AnswerForm, isTab, TABS, type TabName } from './tabs.ts';

export type Values = Readonly<Record<string, string>>;

/** What was typed in a tab: its inputs, the options that were changed, and how the answer is asked for. */
export interface Draft {
  readonly inputs: Values;
  readonly options: Values;
  readonly answer: AnswerForm;
}

export interface State {
  readonly tab: TabName;
  readonly drafts: Readonly<Record<TabName, Draft>>;
}

/** Longer texts make no address that anybody can pass on. */
const MOST_SHARED_CHARACTERS = 20_000;

/** Options with passwords and sessions in them: an address is passed on, and kept in the history. */
const NOT_SHARED = ['setCookies', 'customHeader', 'proxyUrl', 'storageState'];

const emptyDraft = (tab: TabName): Draft => ({ inputs: {}, options: {}, answer: ANSWER_FORMS[tab][0]! });

export const emptyState = (): State => ({
  tab: 'read',
  drafts: Object.fromEntries(TABS.map(({ name }) => [name, emptyDraft(name)])) as Record<TabName, Draft>,
});

export const draftOf = ({ tab, drafts }: State): Draft => drafts[tab];

/** The state with the draft of its tab changed. */
export const withDraft = (state: State, change: Partial<Draft>): State => ({
  ...state,
  drafts: { ...state.drafts, [state.tab]: { ...draftOf(state), ...change } },
});

/** Values with one set, or left out when it is undefined. */
export function withValue(values: Values, name: string, value: string | undefined): Values {
  const { [name]: _, ...others } = values;
  return value === undefined ? others : { ...others, [name]: value };
}

const INPUT = 'in.';
const OPTION = 'opt.';

/** The fragment for a state, without `#`: the tab that is open and what stands in it. */
export function fragmentOf(state: State): string {
  const { inputs, options, answer } = draftOf(state);
  const written = new URLSearchParams({ tab: state.tab });
  if (answer !== ANSWER_FORMS[state.tab][0]) written.set('answer', answer);
  for (const [name, value] of Object.entries(inputs)) {
    if (value !== '' && value.length <= MOST_SHARED_CHARACTERS) written.set(INPUT + name, value);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value.length <= MOST_SHARED_CHARACTERS && !NOT_SHARED.includes(name)) written.set(OPTION + name, value);
  }
  return written.toString();
}

/** A state with what a fragment says laid over its tab; what is not understood is left out. */
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
