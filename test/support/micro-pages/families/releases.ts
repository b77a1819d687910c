/** Release notes and change logs. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, remarks, times } from '../words.ts';

const CHANGES = [
  'Fixed a crash with empty gauges',
  'Added the flag --quiet',
  'Removed the old format',
  'Faster start on cold mornings',
  'Readings keep their time zone',
  'The log rotates at midnight',
];

export const RELEASES: readonly Shape[] = [
  shape('versions with lists', 'Change log', (names) => {
    const versions = times(10, (at) => `Version 3.${10 - at}.0`);
    const lines = times(10, (at) => times(3, (line) => `${CHANGES[(at + line) % 6]} (issue ${100 * at + line + 7})`));
    const html = versions.map(
      (version, at) => `<h2>${version}</h2><ul${names('changes')}>${inEach('li', lines[at]!)}</ul>`,
    );
    return { html: html.join('\n'), keep: [...versions, ...lines.flat()] };
  }),
  shape('one release', 'Gauge 4.1', (names) => ({
    html: `<div${names('release')}><h3>Fixes</h3><ul>${inEach('li', CHANGES.slice(0, 3))}</ul><h3>Improvements</h3><ul>${inEach('li', CHANGES.slice(3))}</ul></div>`,
    keep: ['Fixes', 'Improvements', ...CHANGES],
  })),
  shape('commits with links', 'What changed this week', (names) => {
    const lines = remarks(12, 17);
    const html = lines.map((line, at) => `<li${names('commit')}><a href="/commit/${at}a7f">${at}a7f</a> ${line}</li>`);
    return { html: `<ul${names('commits')}>${html.join('\n')}</ul>`, keep: lines };
  }),
  shape('labels before the text', 'Updates of the app', (names) => {
    const lines = remarks(8, 77);
    const html = lines.map(
      (line, at) =>
        `<div${names('update')}><span${names('badge')}>${at % 2 ? 'Fixed' : 'New'}</span> <span>${line}</span></div>`,
    );
    return { html: `<div${names('updates')}>${html.join('\n')}</div>`, keep: lines };
  }),
  shape('plain text', 'NEWS', () => {
    const lines = times(8, (at) => `  * ${CHANGES[at % 6]} in part ${at + 20}`);
    return { html: `<pre>Version 0.9\n${lines.join('\n')}</pre>`, keep: ['Version 0.9', ...lines] };
  }),
];
