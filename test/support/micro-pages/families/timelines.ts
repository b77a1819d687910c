/** Timelines: a year and what happened in it. */
import { type Part, type Shape, shape } from '../micro-page.ts';
import { remarks, times } from '../words.ts';

const timeline = (
  name: string,
  title: string,
  count: number,
  make: (year: number, text: string) => string,
  [before, after]: readonly [string, string] = ['', ''],
): Shape =>
  shape(name, title, (): Part => {
    const years = times(count, (at) => 1890 + 9 * at);
    const texts = remarks(count, 5 * count);
    const html = years.map((year, at) => make(year, texts[at]!)).join('\n');
    return { html: `${before}${html}${after}`, keep: [...years.map(String), ...texts] };
  });

export const TIMELINES: readonly Shape[] = [
  timeline(
    'list with bold years',
    'The mill through the years',
    8,
    (year, text) => `<li><strong>${year}</strong> ${text}</li>`,
    ['<ul>', '</ul>'],
  ),
  timeline('definition list', 'Years of the harbor', 6, (year, text) => `<dt>${year}</dt><dd>${text}</dd>`, [
    '<dl>',
    '</dl>',
  ]),
  timeline('table', 'Chronicle of the school', 12, (year, text) => `<tr><td>${year}</td><td>${text}</td></tr>`, [
    '<table>',
    '</table>',
  ]),
  timeline('headings', 'History of the lighthouse', 5, (year, text) => `<h3>${year}</h3><p>${text}</p>`),
  timeline(
    'divisions',
    'Milestones',
    9,
    (year, text) =>
      `<div class="timeline-item"><div class="timeline-date">${year}</div><div class="timeline-content"><p>${text}</p></div></div>`,
    ['<div class="timeline">', '</div>'],
  ),
];
