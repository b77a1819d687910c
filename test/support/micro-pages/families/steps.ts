/** Instructions in steps. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, outings, remarks, times } from '../words.ts';

export const STEPS: readonly Shape[] = [
  ...[4, 15].map((count) =>
    shape(`${count} numbered sentences`, `Repair in ${count} steps`, (names) => {
      const steps = remarks(count, 11 * count);
      return { html: `<ol${names('steps')}>\n${inEach('li', steps)}\n</ol>`, keep: steps };
    }),
  ),
  shape('headings and text', 'Hang a door', (names) => {
    const titles = ['Measure the frame', 'Mark the hinges', 'Cut the recesses', 'Set the screws', 'Try the latch'];
    const texts = remarks(5, 33);
    const html = times(
      5,
      (at) =>
        `<div${names('step')}><span${names('step', 'number')}>${at + 1}</span><h3>${titles[at]}</h3><p>${texts[at]}</p></div>`,
    );
    return { html: `<div${names('steps')}>${html.join('\n')}</div>`, keep: [...titles, ...texts] };
  }),
  shape('commands between sentences', 'Start the gauge', () => {
    const texts = remarks(4, 55);
    const commands = ['gauge init north', 'gauge calibrate --zero', 'gauge start', 'gauge status --watch'];
    const html = times(4, (at) => `<li><p>${texts[at]}</p><pre><code>${commands[at]}</code></pre></li>`);
    return { html: `<ol>${html.join('\n')}</ol>`, keep: [...texts, ...commands] };
  }),
  shape('very short steps', 'Coffee in the field', (names) => {
    const steps = ['Boil water', 'Grind beans', 'Fold the filter', 'Pour slowly', 'Wait', 'Serve'];
    return { html: `<ol${names('steps', 'short')}>\n${inEach('li', steps)}\n</ol>`, keep: steps };
  }),
  shape('routes with directions', 'From the station to the hut', (names) => {
    const steps = times(9, (at) => `After ${at + 2} minutes pass the sign for ${outings(1, 40 + at)[0]}`);
    return { html: `<div${names('route')}>${inEach('div', steps, names('route', 'leg'))}</div>`, keep: steps };
  }),
  shape(
    'German steps',
    'Ein Brett hobeln',
    (names) => {
      const steps = [
        'Brett einspannen',
        'Faserrichtung prüfen',
        'Hobel flach ansetzen',
        'Span abheben',
        'Kante brechen',
      ];
      return { html: `<ol${names('schritte')}>\n${inEach('li', steps)}\n</ol>`, keep: steps };
    },
    'de',
  ),
];
