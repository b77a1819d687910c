/** Interviews and transcripts: who says what. */
import { type Shape, shape } from '../micro-page.ts';
import { remarks, sentences, times } from '../words.ts';

const QUESTIONS = [
  'How did it begin?',
  'And then?',
  'Were you afraid?',
  'Who paid for the boat?',
  'Would you go again?',
];
const time = (at: number) => `00:${String(3 * at).padStart(2, '0')}:12`;

export const TALKS: readonly Shape[] = [
  shape('bold questions', 'A talk with the ferryman', () => {
    const answers = remarks(5, 14);
    return {
      html: times(5, (at) => `<p><strong>${QUESTIONS[at]}</strong></p>\n<p>${answers[at]}</p>`).join('\n'),
      keep: [...QUESTIONS, ...answers],
    };
  }),
  shape('names before the text', 'Two keepers remember', () => {
    const lines = remarks(12, 64).map((line, at) => `${at % 2 ? 'Hollis' : 'Ekman'}: ${line}`);
    return { html: lines.map((line) => `<p><b>${line.replace(': ', ':</b> ')}</p>`).join('\n'), keep: lines };
  }),
  shape('transcript with times', 'Transcript of episode 9', (names) => {
    const lines = remarks(16, 84);
    const html = lines.map(
      (line, at) => `<div${names('cue')}><span${names('cue', 'time')}>${time(at)}</span> <p>${line}</p></div>`,
    );
    return { html: `<div${names('transcript')}>${html.join('\n')}</div>`, keep: lines };
  }),
  shape('definition list', 'Minutes of the meeting', (names) => {
    const lines = remarks(7, 104);
    const html = lines.map((line, at) => `<dt>Speaker ${at + 1}</dt><dd>${line}</dd>`);
    return {
      html: `<dl${names('minutes')}>${html.join('\n')}</dl>`,
      keep: lines.flatMap((line, at) => [`Speaker ${at + 1}`, line]),
    };
  }),
  shape('chat', 'The support chat', (names) => {
    const lines = remarks(10, 124);
    const html = lines.map((line, at) => `<div${names('bubble', at % 2 ? 'theirs' : 'ours')}>${line}</div>`);
    return { html: `<div${names('chat')}>${html.join('\n')}</div>`, keep: lines };
  }),
  shape(
    'Spanish interview',
    'Hablamos con el barquero',
    () => {
      const questions = ['¿Cómo empezó todo?', '¿Quién pagó la barca?', '¿Volvería a hacerlo?'];
      const answers = sentences(3, 6, 'es');
      return {
        html: times(3, (at) => `<h3>${questions[at]}</h3><p>${answers[at]}</p>`).join('\n'),
        keep: [...questions, ...answers],
      };
    },
    'es',
  ),
];
