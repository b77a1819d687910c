/** Groups of tabs: of code, of text, with and without hidden panels. */
import { type Shape, shape } from '../micro-page.ts';
import { remarks, times } from '../words.ts';

const COMMANDS = [
  ['npm', 'npm install tide-table'],
  ['pnpm', 'pnpm add tide-table'],
  ['yarn', 'yarn add tide-table --exact'],
] as const;

const buttons = (labels: readonly string[], name: string) =>
  labels.map((label, at) => `<button role="tab" aria-selected="${at === 0}"${name}>${label}</button>`).join('');

export const TABS: readonly Shape[] = [
  shape('code, other panels hidden', 'Install tide-table', (names) => {
    const panels = COMMANDS.map(
      ([, command], at) =>
        `<div role="tabpanel"${at > 0 ? ' hidden' : ''}${names('tabs', 'panel')}><pre><code class="language-bash">${command}</code></pre></div>`,
    );
    const tabs = buttons(
      COMMANDS.map(([label]) => label),
      names('tabs', 'tab'),
    );
    return {
      html: `<div${names('tabs')}><div role="tablist"${names('tabs', 'list')}>${tabs}</div>${panels.join('\n')}</div>\n<p>Then start the program once.</p>`,
      keep: ['npm install tide-table', 'Then start the program once'],
    };
  }),
  shape('code, other panels hidden by style', 'Add the plotting package', (names) => {
    const panels = COMMANDS.map(
      ([, command], at) =>
        `<div${names('tabs', 'pane')}${at > 0 ? ' style="display:none"' : ''}><pre>${command}</pre></div>`,
    );
    const tabs = COMMANDS.map(([label]) => `<li><a href="#${label}">${label}</a></li>`).join('');
    return {
      html: `<p>Choose a package manager:</p>\n<div${names('tabs')}><ul${names('tabs', 'nav')}>${tabs}</ul>${panels.join('\n')}</div>`,
      keep: ['Choose a package manager', 'npm install tide-table'],
    };
  }),
  shape('code, radio inputs', 'Get the library', (names) => {
    const panels = COMMANDS.map(
      ([label, command], at) =>
        `<input type="radio" name="pm" id="${label}"${at === 0 ? ' checked' : ''}><label for="${label}">${label}</label><div${names('tabbed', 'block')}><pre><code>${command}</code></pre></div>`,
    );
    return {
      html: `<div${names('tabbed', 'set')}>${panels.join('\n')}</div>`,
      keep: COMMANDS.map(([, command]) => command),
    };
  }),
  shape('text, all panels visible', 'Care of the tools', (names) => {
    const labels = ['For planes', 'For chisels', 'For saws'];
    const texts = times(3, (at) => remarks(2, 40 + 2 * at).join(' '));
    const panels = texts.map(
      (text, at) => `<section${names('tabs', 'panel')}><h3>${labels[at]}</h3><p>${text}</p></section>`,
    );
    return { html: `<div${names('tabs')}>${panels.join('\n')}</div>`, keep: [...labels, ...texts] };
  }),
  shape('text, other panels hidden', 'The workshop at a glance', (names) => {
    const labels = ['Opening', 'Fees', 'Rules'];
    const texts = times(3, (at) => remarks(3, 60 + 3 * at).join(' '));
    const panels = texts.map(
      (text, at) => `<div role="tabpanel"${at > 0 ? ' hidden' : ''}${names('tabs', 'panel')}><p>${text}</p></div>`,
    );
    return {
      html: `<div${names('tabs')}><div role="tablist">${buttons(labels, names('tabs', 'tab'))}</div>${panels.join('\n')}</div>`,
      keep: [texts[0]!],
    };
  }),
  shape('a program in two languages', 'Read a gauge', (names) => {
    const python = 'gauge = open_gauge("north")\nprint(gauge.level())';
    const ruby = 'gauge = Gauge.open("north")\nputs gauge.level';
    return {
      html: `<div${names('code', 'group')}><div${names('code', 'tabs')}><button>Python</button><button>Ruby</button></div>
<div${names('code', 'block')}><pre><code class="language-python">${python}</code></pre></div>
<div${names('code', 'block')} style="display: none"><pre><code class="language-ruby">${ruby}</code></pre></div></div>`,
      keep: [python],
    };
  }),
];
