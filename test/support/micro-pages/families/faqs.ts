/** Questions with answers, open and closed. */
import { type Part, type Shape, shape } from '../micro-page.ts';
import { remarks, times } from '../words.ts';

const QUESTIONS = [
  'Can I bring a dog?',
  'When does the ferry stop for the winter?',
  'Who repairs a broken oar?',
  'Is there water on the island?',
  'How do I return the key?',
  'May children row alone?',
  'What happens in a storm?',
  'Where can I leave a bicycle?',
];

const faq = (
  name: string,
  title: string,
  from: number,
  make: (question: string, answer: string, at: number) => string,
  answers = true,
): Shape =>
  shape(name, title, (names): Part => {
    const texts = remarks(QUESTIONS.length, from);
    const html = times(QUESTIONS.length, (at) => make(QUESTIONS[at]!, texts[at]!, at)).join('\n');
    return { html: `<div${names('faq')}>${html}</div>`, keep: answers ? [...QUESTIONS, ...texts] : QUESTIONS };
  });

export const FAQS: readonly Shape[] = [
  faq('headings', 'Questions about the island', 5, (question, answer) => `<h3>${question}</h3><p>${answer}</p>`),
  faq(
    'details',
    'Frequent questions',
    15,
    (question, answer) => `<details><summary>${question}</summary><p>${answer}</p></details>`,
  ),
  faq(
    'buttons in headings',
    'Help for rowers',
    25,
    (question, answer, at) =>
      `<h2><button type="button" aria-expanded="true" aria-controls="a${at}">${question}</button></h2><div id="a${at}"><p>${answer}</p></div>`,
  ),
  faq(
    'buttons in headings, answers hidden',
    'Help for guests',
    35,
    (question, answer, at) =>
      `<h2><button type="button" aria-expanded="false" aria-controls="a${at}">${question}</button></h2><div id="a${at}" hidden><p>${answer}</p></div>`,
    false,
  ),
  faq(
    'definition list',
    'Before you come',
    45,
    (question, answer) => `<dl><dt>${question}</dt><dd>${answer}</dd></dl>`,
  ),
  faq('bold questions', 'Good to know', 65, (question, answer) => `<p><strong>${question}</strong><br>${answer}</p>`),
  faq('letters Q and A', 'Asked at the counter', 75, (question, answer) => `<p>Q: ${question}</p><p>A: ${answer}</p>`),
  shape('links to answers', 'Help topics', (names) => ({
    html: `<ul${names('help', 'topics')}>${QUESTIONS.map((question, at) => `<li><a href="/help/${at}">${question}</a></li>`).join('\n')}</ul>`,
    keep: QUESTIONS,
  })),
  shape(
    'French questions',
    'Questions fréquentes',
    (names) => ({
      html: `<div${names('faq')}><h3>Peut-on venir à pied ?</h3><p>Oui, par le sentier du bas.</p><h3>Le gîte est-il chauffé ?</h3><p>Un poêle suffit jusqu’en novembre.</p><h3>Faut-il réserver ?</h3><p>Seulement en juillet.</p></div>`,
      keep: [
        'Peut-on venir à pied',
        'Oui, par le sentier du bas',
        'Le gîte est-il chauffé',
        'Un poêle suffit jusqu’en novembre',
        'Faut-il réserver',
        'Seulement en juillet',
      ],
    }),
    'fr',
  ),
];
