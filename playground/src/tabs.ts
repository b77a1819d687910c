/** What the page can ask, a tab each. */
import type { FormName } from '../../src/api/pages/playground-types.ts';

export const TABS = [
  {
    name: 'read',
    title: 'Read',
    form: 'read',
    asks: 'A web page or a file becomes Markdown.',
    answers: 'What the page says comes here: as it reads, as it is, as JSON, with what was left out of it.',
  },
  {
    name: 'search',
    title: 'Search',
    form: 'search',
    asks: 'A query is searched for and the pages found are read.',
    answers: 'The pages that were found come here, each read.',
  },
  {
    name: 'ask',
    title: 'Ask the index',
    form: 'search',
    asks: 'The best passages of all pages this server has read.',
    answers: 'The passages that answer come here, with the pages they are from.',
  },
  {
    name: 'embed',
    title: 'Embed',
    form: 'embed',
    asks: 'Texts become vectors, and how near they are is shown.',
    answers: 'The vectors come here, and how near each text is to the others.',
  },
  {
    name: 'rerank',
    title: 'Rerank',
    form: 'rerank',
    asks: 'Documents are put in order by how well they answer.',
    answers: 'The documents come here, the best first, with their scores.',
  },
  {
    name: 'ocr',
    title: 'Recognize',
    form: 'ocr',
    asks: 'A picture of a page becomes text.',
    answers: 'The text of the picture comes here, as Markdown.',
  },
] as const satisfies readonly { name: string; title: string; form: FormName; asks: string; answers: string }[];

export type TabName = (typeof TABS)[number]['name'];
export const isTab = (text: string | null): text is TabName => TABS.some(({ name }) => name === text);
export const tabOf = (name: TabName) => TABS.find((tab) => tab.name === name)!;

/** How an answer may be asked for. */
export const FORMS_OF_ANSWER = { json: 'JSON', stream: 'Stream', text: 'Text' } as const;
export type AnswerForm = keyof typeof FORMS_OF_ANSWER;

/** Which of them each tab knows, the first as its own. */
export const ANSWER_FORMS: Readonly<Record<TabName, readonly AnswerForm[]>> = {
  read: ['json', 'stream', 'text'],
  search: ['json', 'stream', 'text'],
  ask: ['json', 'text'],
  embed: ['json'],
  rerank: ['json'],
  ocr: ['json', 'stream'],
};
