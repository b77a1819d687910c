/**
 * The text of a page as a person would copy it: the HTML standard's `innerText` (section 3.2.7), with the default
 * layout of browsers and the few inline styles that change it.
 */
import { attribute, type Child, DOCUMENT, ELEMENT, type Element, hasAttribute, type Node, TEXT } from './node.ts';

/** The visible text under a node. White space is collapsed as in a browser, and lines are separated by `\n`. */
export function innerText(node: Node): string {
  const writer = new TextWriter();
  writer.preformatted = isPreformatted(node);
  write(node, writer);
  return writer.out;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Elements that are not displayed, or not as their text. */
const NOT_DISPLAYED = words(
  'area audio base basefont canvas datalist embed frame head iframe img input link meta meter noembed noframes ' +
    'noscript param progress rp script source style template textarea title track video',
);
const NOT_DISPLAYED_FOREIGN = words(
  'annotation annotation-xml clipPath defs desc linearGradient marker mask metadata pattern radialGradient script ' +
    'style symbol title',
);
const OBJECTS = words('audio canvas embed iframe img input meter progress textarea video');
const BLOCKS = words(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p ' +
    'plaintext pre search section select summary table ul xmp',
);
const PREFORMATTED = words('listing plaintext pre xmp');
const BLOCK_DISPLAYS = words('block flex flow-root grid list-item table table-caption');

interface Layout {
  hidden: boolean;
  /** Whether the element occupies space in the line although its text is not shown. */
  object: boolean;
  block: boolean;
  /** Whether white space is preserved, and whether text is shown; null to inherit. */
  preformatted: boolean | null;
  visible: boolean | null;
}

/** The layout of an element: determined by its name, then by its style attribute. */
function layoutOf(element: Element): Layout {
  const { name } = element;
  if (element.namespace !== 'html') {
    return {
      hidden: NOT_DISPLAYED_FOREIGN.has(name),
      object: name === 'svg',
      block: name === 'text',
      preformatted: null,
      visible: null,
    };
  }
  const layout: Layout = {
    hidden: NOT_DISPLAYED.has(name) || isClosed(element),
    object: OBJECTS.has(name) && !isHiddenInput(element),
    block: BLOCKS.has(name),
    preformatted: PREFORMATTED.has(name) ? true : null,
    visible: null,
  };
  for (const entry of element.attributes) {
    if (entry.name === 'hidden') hideLayout(layout);
    else if (entry.name === 'style') applyStyle(layout, entry.value);
  }
  return layout;
}

function hideLayout(layout: Layout): void {
  layout.hidden = true;
  layout.object = false;
}

const isHiddenInput = (element: Element): boolean =>
  element.name === 'input' && attribute(element, 'type')?.toLowerCase() === 'hidden';

/** Whether the element is a closed dialog, or part of a closed details element (other than its summary). */
function isClosed(element: Element): boolean {
  if (element.name === 'dialog') return !hasAttribute(element, 'open');
  const { parent } = element;
  return parent?.type === ELEMENT && isClosedDetails(parent) && element.name !== 'summary';
}

const isClosedDetails = (element: Element): boolean => element.name === 'details' && !hasAttribute(element, 'open');

function applyStyle(layout: Layout, style: string): void {
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, colon).trim().toLowerCase();
    if (property !== 'display' && property !== 'visibility' && property !== 'white-space') continue;
    const value = declaration
      .slice(colon + 1)
      .replace(/!.*/s, '')
      .trim()
      .toLowerCase();
    if (property === 'white-space') layout.preformatted = value.startsWith('pre') || value === 'break-spaces';
    else if (property === 'visibility') layout.visible = value === 'visible';
    else if (value === 'none') hideLayout(layout);
    else if (value.startsWith('inline')) layout.block = false;
    else if (BLOCK_DISPLAYS.has(value)) layout.block = true;
  }
}

/** Whether white space is preserved at a node, as set by the nearest ancestor that specifies it. */
function isPreformatted(node: Node): boolean {
  for (let above = node.parent; above?.type === ELEMENT; above = above.parent) {
    const { preformatted } = layoutOf(above);
    if (preformatted !== null) return preformatted;
  }
  return false;
}

/** An open element with state to restore or children to count. */
interface Frame {
  element: Element;
  breaks: number;
  /** Previous values. */
  preformatted: boolean;
  visible: boolean;
  /** Number of rows so far in a table, or of cells so far in a row. */
  seen: number;
}

function write(root: Node, writer: TextWriter): void {
  const frames: Frame[] = [];
  let table: Frame | null = null;
  let row: Frame | null = null;
  const tables: (Frame | null)[] = [];
  let at: Node = root;

  const close = (): void => {
    const frame = frames.pop()!;
    writer.preformatted = frame.preformatted;
    writer.visible = frame.visible;
    writer.require(frame.breaks);
    if (frame.element.name === 'table') {
      table = tables.pop() ?? null;
      row = tables.pop() ?? null;
    }
  };

  /** Opens an element; returns false if no part of it is displayed. */
  const open = (element: Element): boolean => {
    const layout = layoutOf(element);
    if (layout.object) writer.object();
    if (layout.hidden && element !== root) return false;
    if (element.name === 'br' && element.namespace === 'html') {
      writer.put('\n');
      return false;
    }
    const visible = layout.visible ?? writer.visible;
    const breaks = layout.block && visible ? (element.name === 'p' ? 2 : 1) : 0;
    const frame: Frame = { element, breaks, preformatted: writer.preformatted, visible: writer.visible, seen: 0 };
    if (element.name === 'table') {
      tables.push(row, table);
      table = frame;
      row = null;
    } else if (element.name === 'tr') {
      if (table && table.seen++ > 0) writer.put('\n');
      row = frame;
    } else if ((element.name === 'td' || element.name === 'th') && row) {
      if (row.seen++ > 0) writer.put('\t');
    }
    writer.require(breaks);
    writer.preformatted = layout.preformatted ?? writer.preformatted;
    writer.visible = visible;
    frames.push(frame);
    return true;
  };

  for (;;) {
    const isOpened = at.type === DOCUMENT || (at.type === ELEMENT && open(at));
    if (at.type === TEXT && !isInvisibleParent(at.parent)) writer.text(at.value);
    if (isOpened && 'first' in at && at.first) {
      at = at.first;
      continue;
    }
    if (isOpened && at.type === ELEMENT) close();
    while (at !== root && !(at as Child).next) {
      at = (at as Child).parent!;
      if (at.type === ELEMENT) close();
    }
    if (at === root) return;
    at = (at as Child).next!;
  }
}

const TABLE_PARTS = words('table tbody thead tfoot tr colgroup');

/** White space between the parts of a table is not text. The parser moves all other text out of tables. */
const isInvisibleParent = (parent: Node | null): boolean =>
  parent?.type === ELEMENT && parent.namespace === 'html' && (TABLE_PARTS.has(parent.name) || isClosedDetails(parent));

/** Assembles the text. Spaces and line breaks are held back, because they may be at the end of a line. */
class TextWriter {
  out = '';
  preformatted = false;
  visible = true;
  #breaks = 0;
  #space = false;
  #lineStart = true;

  /** Requires at least this many line breaks before the next text, unless there is no text yet. */
  require(breaks: number): void {
    if (breaks === 0) return;
    this.#space = false;
    this.#lineStart = true;
    this.#breaks = Math.max(this.#breaks, breaks);
  }

  /** Adds an inline object without text, such as a picture; the spaces around the object are preserved. */
  object(): void {
    if (!this.visible) return;
    if (this.#space) {
      this.#flush();
      this.out += ' ';
    }
    this.#space = false;
    this.#lineStart = false;
  }

  /** Adds a line break or tab, which is preserved even at the end. */
  put(text: string): void {
    this.#flush();
    this.out += text;
    this.#space = false;
    this.#lineStart = true;
  }

  text(value: string): void {
    if (value === '' || !this.visible) return;
    if (this.preformatted) {
      this.#flush();
      this.out += (this.#space ? ' ' : '') + value;
      this.#space = false;
      this.#lineStart = value.endsWith('\n');
      return;
    }
    const collapsed = value.replace(/[ \t\n\r\f]+/g, ' ');
    const starts = collapsed.startsWith(' ');
    const trimmed = collapsed.slice(starts ? 1 : 0, collapsed.endsWith(' ') ? -1 : undefined);
    if (starts && !this.#lineStart) this.#space = true;
    if (collapsed === ' ') return;
    this.#flush();
    this.out += (this.#space ? ' ' : '') + trimmed;
    this.#space = collapsed.endsWith(' ');
    this.#lineStart = false;
  }

  #flush(): void {
    if (this.#breaks > 0 && this.out !== '') this.out += '\n'.repeat(this.#breaks);
    this.#breaks = 0;
  }
}
