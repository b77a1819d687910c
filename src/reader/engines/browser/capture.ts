/**
 * Writes the document down, inside the page: one walk that gives the HTML and, on the way, what a person would not see.
 * The walk only reads: a page that observes itself notices nothing. It keeps its own stack, so depth costs no recursion.
 * Elements are written by the HTML standard's serialization, with what the options ask for written in.
 */
import type { PageDocument, PageElement, PageNode, PageStyle, PageWindow } from './dom.ts';

declare const document: PageDocument;
declare const window: PageWindow;
declare const Element: { readonly prototype: PageElement };

export interface CaptureOptions {
  readonly withShadowDom: boolean;
  /** Leave a place for the content of each frame. */
  readonly withFrames: boolean;
  readonly detachInvisibles: boolean;
  /** Detach no audio or video: they are heard, or not shown until their player is ready, which here never happens. */
  readonly keepMedia: boolean;
  /** Only what the body holds, without scripts and styles, addresses made absolute: for a frame's document. */
  readonly fragment: boolean;
  readonly hiddenAttribute: string;
  readonly frameAttribute: string;
  readonly maxChars: number;
  /** How many elements are asked for their style. */
  readonly maxStyled: number;
}

export interface Captured {
  readonly url: string;
  readonly title: string;
  readonly contentType: string;
  readonly elements: number;
  /** The document, cut where frames stand when places for them were left: one part more than frames. */
  readonly parts: readonly string[];
  readonly hiddenFrames: boolean;
  readonly hiddenShadow: boolean;
  readonly truncated: boolean;
  readonly readyState: string;
}

export function captureDocument(options: CaptureOptions): Captured {
  const HTML = 'http://www.w3.org/1999/xhtml';
  const SVG = 'http://www.w3.org/2000/svg';
  const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
  const RAW = new Set('style script xmp iframe noembed noframes plaintext noscript'.split(' '));
  /** Never displayed and never meant to be: no word about their style. */
  const META = new Set(
    'head title base link meta script style template noscript param source track datalist'.split(' '),
  );
  const PRE = new Set(['pre', 'textarea', 'listing']);
  const PICTURES = new Set(['img', 'video', 'canvas', 'svg', 'picture', 'iframe']);
  const MEDIA = new Set(['audio', 'video']);
  const ADDRESSES = new Set(['href', 'src', 'poster', 'data', 'action', 'cite', 'longdesc']);

  /** What a node gets from above: where the walk is with what is seen. */
  interface Sight {
    /** Inside the body and nothing above is hidden, so styles are worth asking for. */
    readonly look: boolean;
    /** The colour behind, or undefined where a picture makes it unknown. */
    readonly back: string | undefined;
    readonly unseen: string | undefined;
  }
  interface Step {
    next: PageNode | null;
    list: readonly PageNode[] | undefined;
    at: number;
    readonly close: string;
    readonly sight: Sight;
    readonly raw: boolean;
  }

  // A form's controls and a document's named elements hide properties of the same name (`<input name="firstChild">`),
  // so what the walk stands on is read through the prototypes, which in this world no page can reach.
  const reader = <Owner, Value>(owner: string, property: string) => {
    const prototype = (globalThis as unknown as Record<string, { prototype: object }>)[owner]!.prototype;
    const { get } = Object.getOwnPropertyDescriptor(prototype, property)!;
    return (of: Owner) => get!.call(of) as Value;
  };
  const firstChild = reader<PageNode, PageNode | null>('Node', 'firstChild');
  const nextSibling = reader<PageNode, PageNode | null>('Node', 'nextSibling');
  const nodeType = reader<PageNode, number>('Node', 'nodeType');
  const nodeName = reader<PageNode, string>('Node', 'nodeName');
  const nodeValue = reader<PageNode, string | null>('Node', 'nodeValue');
  const parentElement = reader<PageNode, PageElement | null>('Node', 'parentElement');
  const baseAddress = reader<PageNode, string>('Node', 'baseURI');
  const localName = reader<PageElement, string>('Element', 'localName');
  const namespace = reader<PageElement, string | null>('Element', 'namespaceURI');
  const attributes = reader<PageElement, PageElement['attributes']>('Element', 'attributes');
  const shadowRoot = reader<PageElement, PageNode | null>('Element', 'shadowRoot');
  const children = reader<PageElement, ArrayLike<PageElement>>('Element', 'children');
  const documentElement = reader<PageDocument, PageElement | null>('Document', 'documentElement')(document);
  const body = reader<PageDocument, PageElement | null>('Document', 'body')(document);
  const ofDocument = (property: string) => reader<PageDocument, string>('Document', property)(document);

  const parts: string[] = [];
  const frames: PageElement[] = [];
  let out: string[] = [];
  let chars = 0;
  let elements = 0;
  let styled = 0;
  let hiddenFrames = false;
  let hiddenShadow = false;
  const write = (text: string) => {
    chars += text.length;
    out.push(text);
  };
  const cut = () => {
    parts.push(out.join(''));
    out = [];
  };

  const escapeText = (text: string) =>
    /[&<>\u00a0]/.test(text)
      ? text
          .replace(/&/g, '&amp;')
          .replace(/</g, '&lt;')
          .replace(/>/g, '&gt;')
          .replace(/\u00a0/g, '&nbsp;')
      : text;
  const escapeValue = (text: string) => (/[&"<>\u00a0]/.test(text) ? escapeText(text).replace(/"/g, '&quot;') : text);

  const base = baseAddress(document);
  const absolute = (address: string) => {
    try {
      return /^\s*(#|javascript:|data:)/i.test(address) ? address : new URL(address, base).href;
    } catch {
      return address;
    }
  };
  const absoluteSet = (value: string) =>
    value
      .split(/,\s+/)
      .map((entry) => {
        const text = entry.trim();
        const space = text.indexOf(' ');
        return space < 0 ? absolute(text) : absolute(text.slice(0, space)) + text.slice(space);
      })
      .join(', ');

  const openTag = (element: PageElement, name: string, hidden: string | undefined) => {
    let tag = `<${name}`;
    const list = attributes(element);
    for (let at = 0; at < list.length; at++) {
      const { name: key, value } = list[at]!;
      if (key === options.hiddenAttribute || key === options.frameAttribute) continue;
      if (options.fragment && key.startsWith('on')) continue;
      let written = value;
      if (options.fragment && ADDRESSES.has(key)) written = absolute(value);
      else if (options.fragment && key === 'srcset') written = absoluteSet(value);
      tag += ` ${key}="${escapeValue(written)}"`;
    }
    if (hidden) tag += ` ${options.hiddenAttribute}="${hidden}"`;
    return `${tag}>`;
  };

  const colour = (text: string | undefined) => {
    const numbers = text?.match(/[\d.]+/g)?.map(Number);
    if (!numbers || numbers.length < 3 || !text!.startsWith('rgb')) return undefined;
    return { red: numbers[0]!, green: numbers[1]!, blue: numbers[2]!, alpha: numbers[3] ?? 1 };
  };
  const alike = (one: string, other: string) => {
    const a = colour(one);
    const b = colour(other);
    return a && b && Math.abs(a.red - b.red) + Math.abs(a.green - b.green) + Math.abs(a.blue - b.blue) <= 6;
  };
  const hasOwnText = (element: PageElement) => {
    for (let child = firstChild(element); child; child = nextSibling(child))
      if (nodeType(child) === 3 && /\S/.test(nodeValue(child) ?? '')) return true;
    return false;
  };

  const boxOf = (element: PageElement) => Element.prototype.getBoundingClientRect.call(element);
  /** Whether a box lies over the middle of another. */
  const covers = (layer: PageElement, element: PageElement) => {
    const over = boxOf(layer);
    const under = boxOf(element);
    const x = (under.left + under.right) / 2;
    const y = (under.top + under.bottom) / 2;
    return over.left < x && x < over.right && over.top < y && y < over.bottom;
  };

  /** Text of its background's colour may still be seen over a picture or a layer that stands behind it. */
  const overPicture = (element: PageElement) => {
    const isLayer = (other: PageElement) => {
      styled++;
      const { position } = window.getComputedStyle(other);
      return PICTURES.has(localName(other)) || position === 'absolute' || position === 'fixed';
    };
    let up: PageElement | null = element;
    for (let steps = 0; up && up !== body && steps < 8; steps++, up = parentElement(up)) {
      const style = window.getComputedStyle(up);
      if (style.backgroundImage !== 'none') return true;
      if (style.position !== 'static' && Element.prototype.querySelector.call(up, [...PICTURES].join())) return true;
      for (const pseudo of ['::before', '::after']) {
        const layer = window.getComputedStyle(up, pseudo);
        if (layer.content !== 'none' && (layer.backgroundImage !== 'none' || colour(layer.backgroundColor)?.alpha))
          return true;
      }
      const parent: PageElement | null = parentElement(up);
      const siblings = parent ? children(parent) : [];
      for (let at = 0; at < Math.min(siblings.length, 20); at++) {
        const sibling: PageElement = siblings[at]!;
        if (sibling !== up && isLayer(sibling) && covers(sibling, element)) return true;
      }
    }
    return false;
  };

  /** Why the element and all in it cannot be seen; `visibility` and `colour` are properties of text, decided there. */
  const hiddenWhole = (element: PageElement, style: PageStyle): string | undefined => {
    if (style.display === 'none') return 'display';
    const root = element === body || element === documentElement;
    if (root) return undefined;
    if (Number(style.opacity) < 0.02) return 'opacity';
    const placed = style.position === 'absolute' || style.position === 'fixed';
    const clipped = style.overflowX !== 'visible' || style.overflowY !== 'visible';
    const moved = style.transform !== 'none' && style.transform !== '';
    if (placed && (style.clip === 'rect(0px, 0px, 0px, 0px)' || style.clip === 'rect(1px, 1px, 1px, 1px)'))
      return 'size';
    if (/^inset\((50|100)%/.test(style.clipPath ?? '')) return 'size';
    if (!placed && !clipped && !moved) return undefined;
    if (style.display === 'contents' || style.display === 'inline') return undefined;
    const rect = boxOf(element);
    if (clipped && (rect.width <= 1 || rect.height <= 1)) return 'size';
    if (rect.width === 0 && rect.height === 0) return undefined;
    const far = placed ? 0 : -1_000;
    if (rect.right + window.scrollX <= far || rect.bottom + window.scrollY <= far) return 'offscreen';
    return undefined;
  };

  const bodyShows = () => !body || window.getComputedStyle(body).visibility === 'visible';

  /** Why the text that stands directly in the element cannot be seen. */
  const hiddenText = (element: PageElement, style: PageStyle, back: string | undefined): string | undefined => {
    if (style.visibility !== 'visible' && bodyShows()) return 'visibility';
    if (Number.parseFloat(style.fontSize ?? '16') < 2) return 'size';
    if (Number.parseFloat(style.textIndent ?? '0') <= -500) return 'offscreen';
    if (style.backgroundClip === 'text' || style.webkitBackgroundClip === 'text') return undefined;
    const fill = style.webkitTextFillColor || style.color || '';
    if (style.textShadow && style.textShadow !== 'none') return undefined;
    const shown = colour(fill);
    if (!shown) return undefined;
    if (shown.alpha < 0.02) return 'colour';
    return back !== undefined && alike(fill, back) && !overPicture(element) ? 'colour' : undefined;
  };

  const backOf = (style: PageStyle, back: string | undefined) => {
    if (style.backgroundImage !== 'none') return undefined;
    const own = colour(style.backgroundColor);
    if (!own || own.alpha === 0) return back;
    return own.alpha === 1 ? style.backgroundColor : undefined;
  };

  const childrenOf = (element: PageElement, html: boolean): Pick<Step, 'next' | 'list'> => {
    const name = localName(element);
    if (name === 'svg' && namespace(element) === SVG) return { next: null, list: undefined };
    if (html && name === 'template') return { next: firstChild(element.content!), list: undefined };
    const root = shadowRoot(element);
    if (root && options.withShadowDom) return { next: firstChild(root), list: undefined };
    if (root) hiddenShadow = true;
    if (options.withShadowDom && html && name === 'slot') {
      const assigned = element.assignedNodes!();
      if (assigned.length) return { next: null, list: assigned };
    }
    return { next: firstChild(element), list: undefined };
  };

  const stack: Step[] = [];
  const enter = (element: PageElement, above: Sight) => {
    elements++;
    const html = namespace(element) === HTML;
    const name = html ? localName(element) : nodeName(element);
    if (options.fragment && (name === 'script' || name === 'style' || name === 'link' || name === 'noscript')) return;

    let sight = above;
    let hidden: string | undefined;
    let unseen: string | undefined;
    if (element === body) sight = { ...above, look: true };
    if (sight.look && html && !META.has(name) && styled < options.maxStyled) {
      styled++;
      const style = window.getComputedStyle(element);
      hidden = firstChild(element) || shadowRoot(element) ? hiddenWhole(element, style) : undefined;
      const stays = element === body || (options.keepMedia && MEDIA.has(name));
      if (style.display === 'none' && options.detachInvisibles && !stays) return;
      if (hidden) sight = { look: false, back: undefined, unseen: undefined };
      else {
        const back = backOf(style, sight.back);
        if (hasOwnText(element)) unseen = hiddenText(element, style, back);
        sight = { look: true, back, unseen };
        if (unseen && children(element).length === 0) {
          hidden = unseen;
          sight = { look: false, back: undefined, unseen: undefined };
        }
      }
    }

    if (html && (name === 'iframe' || name === 'frame')) {
      const loaded = ['src', 'srcdoc'].some((key) => Element.prototype.hasAttribute.call(element, key));
      if (loaded && options.withFrames && !hidden) {
        frames.push(element);
        cut();
        return;
      }
      if (loaded) hiddenFrames = true;
    }
    const transparent = options.withShadowDom && html && name === 'slot';
    if (!transparent) write(openTag(element, name, hidden));
    if (html && VOID.has(name)) return;
    const inner = childrenOf(element, html);
    const first = inner.next;
    if (PRE.has(name) && first && nodeType(first) === 3 && nodeValue(first)?.startsWith('\n')) write('\n');
    stack.push({ ...inner, at: 0, close: transparent ? '' : `</${name}>`, sight, raw: html && RAW.has(name) });
  };

  const visit = (node: PageNode, step: Step) => {
    const type = nodeType(node);
    if (type === 1) enter(node as PageElement, step.sight);
    else if (type === 3 || type === 4) {
      const text = nodeValue(node) ?? '';
      if (step.raw) write(text);
      else if (step.sight.unseen && /\S/.test(text))
        write(`<span ${options.hiddenAttribute}="${step.sight.unseen}">${escapeText(text)}</span>`);
      else write(escapeText(text));
    } else if (type === 8 && !options.fragment) write(`<!--${(nodeValue(node) ?? '').replace(/--!?>/g, '')}-->`);
  };

  const start: Sight = { look: false, back: 'rgb(255, 255, 255)', unseen: undefined };
  const root = documentElement;
  if (root && options.fragment) {
    stack.push({
      next: firstChild(body ?? root),
      list: undefined,
      at: 0,
      close: '',
      sight: { ...start, look: Boolean(body) },
      raw: false,
    });
  } else if (root) enter(root, start);
  let truncated = false;
  while (stack.length) {
    const step = stack[stack.length - 1]!;
    const node: PageNode | null = step.list ? (step.list[step.at++] ?? null) : step.next;
    if (node && !step.list) step.next = nextSibling(node);
    if (chars > options.maxChars) truncated = true;
    if (node && !truncated) visit(node, step);
    else {
      write(step.close);
      stack.pop();
    }
  }
  cut();
  (globalThis as { framesFound?: unknown }).framesFound = frames;
  return {
    url: window.location.href,
    title: ofDocument('title'),
    contentType: ofDocument('contentType'),
    elements,
    parts,
    hiddenFrames,
    hiddenShadow,
    truncated,
    readyState: ofDocument('readyState'),
  };
}

/** The text of a document as it is shown. */
export function readText(): string {
  const { innerText } = document.body ?? { innerText: '' };
  return innerText;
}
