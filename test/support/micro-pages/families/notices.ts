/** Notices and warnings that belong to the text. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, remarks } from '../words.ts';

const WARNING = 'Close the main tap before you open the valve.';
const NOTE = 'The older model has two screws more.';

export const NOTICES: readonly Shape[] = [
  shape('warning in a box', 'Change the valve', (names) => ({
    html: `<p>The valve sits behind the panel.</p>\n<div${names('alert', 'warning')} role="alert"><strong>Warning</strong> <p>${WARNING}</p></div>\n<p>Turn the nut to the left.</p>`,
    keep: ['The valve sits behind the panel', WARNING, 'Turn the nut to the left'],
  })),
  shape('admonition of documentation', 'Open the panel', () => ({
    html: `<p>Loosen the screws one by one.</p>\n<div class="admonition note"><p class="admonition-title">Note</p><p>${NOTE}</p></div>\n<p>Keep them in a cup.</p>`,
    keep: ['Loosen the screws one by one', NOTE, 'Keep them in a cup'],
  })),
  shape('aside', 'Clean the filter', (names) => ({
    html: `<p>Rinse the filter under warm water.</p>\n<aside${names('callout')}><p>${NOTE}</p></aside>\n<p>Let it dry in the shade.</p>`,
    keep: ['Rinse the filter under warm water', NOTE, 'Let it dry in the shade'],
  })),
  shape('alert of a code host', 'Read this first', () => ({
    html: `<div class="markdown-alert markdown-alert-warning"><p class="markdown-alert-title">Warning</p><p>${WARNING}</p></div>\n<p>The rest is easy.</p>`,
    keep: [WARNING, 'The rest is easy'],
  })),
  shape('list of notices', 'Notices of the harbor office', (names) => {
    const lines = remarks(7, 24);
    return { html: `<ul${names('notices')}>${inEach('li', lines)}</ul>`, keep: lines };
  }),
  shape('correction under the text', 'A report with a correction', (names) => ({
    html: `<p>The lock has four gates and one keeper.</p>\n<p${names('correction')}><em>Correction: an earlier version of this report named three gates.</em></p>`,
    keep: ['The lock has four gates and one keeper', 'Correction: an earlier version of this report named three gates'],
  })),
];
