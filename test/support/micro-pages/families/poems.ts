/** Poems and songs. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach } from '../words.ts';

const STANZAS = [
  [
    'The tide has gone to fetch the night,',
    'the boats lie down in sand,',
    'and someone with a paper light',
    'is writing on the land.',
  ],
  [
    'He writes a name, he writes it wide,',
    'then sits and drinks his tea.',
    'At six o’clock there comes the tide',
    'and reads it to the sea.',
  ],
];
const LINES = STANZAS.flat();
const HAIKU = ['古い桟橋', '網を干す手に', '春の風'];

export const POEMS: readonly Shape[] = [
  shape('lines with breaks', 'The writer on the beach', (names) => ({
    html: STANZAS.map((lines) => `<p${names('stanza')}>${lines.join('<br>\n')}</p>`).join('\n'),
    keep: LINES,
  })),
  shape('a line an element', 'A name in the sand', (names) => ({
    html: STANZAS.map((lines) => `<div${names('stanza')}>${inEach('div', lines, names('stanza', 'line'))}</div>`).join(
      '\n',
    ),
    keep: LINES,
  })),
  shape('preformatted', 'Low tide', () => ({
    html: `<pre>${STANZAS.map((lines) => lines.join('\n')).join('\n\n')}</pre>`,
    keep: LINES,
  })),
  shape('as a quotation with its author', 'A poem for Sunday', (names) => ({
    html: `<blockquote${names('poem')}>${STANZAS.map((lines) => `<p>${lines.join('<br>')}</p>`).join('')}</blockquote>\n<p>Imani Hollis, 1968</p>`,
    keep: [...LINES, 'Imani Hollis, 1968'],
  })),
  shape(
    'Japanese lines',
    '春の港',
    (names) => ({ html: `<div${names('haiku')}>${inEach('p', HAIKU)}</div>`, keep: HAIKU }),
    'ja',
  ),
];
