/**
 * Writes the document down, inside the page: one walk that gives the HTML and, on the way, what a person would not see.
 * The walk only reads: a page that observes itself notices nothing. It keeps its own stack, so depth costs no recursion.
 * Elements are written by the HTML standard's serialization, with what the options ask for written in.
 */
import type { PageCanvas, PageDocument, PageElement, PageNode, PageRange, PageStyle, PageWindow } from './dom.ts';

declare const document: PageDocument;
declare const window: PageWindow;
declare const Element: { readonly prototype: PageElement };
declare const Node: { readonly prototype: PageElement };
declare const Document: { readonly prototype: PageDocument };
declare const Range: { new (): PageRange; readonly prototype: PageRange };
declare const OffscreenCanvas: PageCanvas;

export interface CaptureOptions {
  readonly withShadowDom: boolean;
  /** Leave a place for the content of each `iframe`; the frames of a frameset always have one, having nothing beside it. */
  readonly withFrames: boolean;
  readonly detachInvisibles: boolean;
  /** Detach no audio or video: they are heard, or not shown until their player is ready, which here never happens. */
  readonly keepMedia: boolean;
  /** Only what the body holds, without scripts and styles, addresses made absolute: for a frame's document. */
  readonly fragment: boolean;
  readonly hiddenAttribute: string;
  readonly frameAttribute: string;
  /** The value of that attribute for the body that stands for a frameset. */
  readonly frameset: string;
  readonly maxChars: number;
  /** How many elements are asked for their style. */
  readonly maxStyled: number;
  /** How long may be spent on asking whether something lies over a text. */
  readonly maxPointingMs: number;
  /** Nothing is asked in a document of more elements. */
  readonly maxPointedElements: number;
}

export interface DocumentCapture {
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

export function captureDocument(options: CaptureOptions): DocumentCapture {
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

  /** Red, green and blue up to 255, alpha up to 1. */
  type Colour = readonly [red: number, green: number, blue: number, alpha: number];
  /** What a node gets from above: where the walk is with what is seen. */
  interface Sight {
    /** Inside the body and nothing above is hidden, so styles are worth asking for. */
    readonly look: boolean;
    /** The colour behind, or undefined where a picture makes it unknown. */
    readonly back: Colour | undefined;
    /** Of all around, multiplied. */
    readonly opacity: number;
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
    if (name === 'body' && element === body && localName(element) === 'frameset')
      tag += ` ${options.frameAttribute}="${options.frameset}"`;
    if (hidden) tag += ` ${options.hiddenAttribute}="${hidden}"`;
    return `${tag}>`;
  };

  const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
  const colours = new Map<string, Colour | undefined>();
  const colour = (text: string | undefined): Colour | undefined => {
    if (!text) return undefined;
    if (colours.has(text)) return colours.get(text);
    let found: Colour | undefined;
    const numbers = /^rgba?\(/.test(text) ? text.match(/[\d.]+/g)?.map(Number) : undefined;
    if (numbers) found = [numbers[0]!, numbers[1]!, numbers[2]!, numbers[3] ?? 1];
    else {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = text;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
      found = [red!, green!, blue!, alpha! / 255];
    }
    colours.set(text, found);
    return found;
  };
  const over = ([red, green, blue, alpha]: Colour, back: Colour): Colour => {
    const mixed = (own: number, behind: number) => own * alpha + behind * (1 - alpha);
    return [mixed(red, back[0]), mixed(green, back[1]), mixed(blue, back[2]), 1];
  };
  const luminance = (of: Colour) => {
    const linear = (channel: number) =>
      channel <= 10.3 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(of[0]) + 0.7152 * linear(of[1]) + 0.0722 * linear(of[2]);
  };
  /** As `looksTheSame` of the extraction has it. */
  const alike = (one: Colour, other: Colour) => {
    if (Math.abs(one[0] - other[0]) + Math.abs(one[1] - other[1]) + Math.abs(one[2] - other[2]) > 60) return false;
    const [a, b] = [luminance(one), luminance(other)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 1.15;
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
        if (layer.content !== 'none' && (layer.backgroundImage !== 'none' || colour(layer.backgroundColor)?.[3]))
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

  /** Whether a `clip-path` leaves nothing: an inset whose sides meet, a circle without size, a polygon in one point. */
  const cutAway = (path: string) => {
    const inset = /^inset\(([^()]*)/.exec(path)?.[1]?.replace(/\bround\b.*/, '');
    if (inset !== undefined) {
      const [top = '', right = top, bottom = top, left = right] = inset.trim().split(/\s+/);
      const percent = (side: string) => (side.endsWith('%') ? Number.parseFloat(side) : 0);
      return percent(top) + percent(bottom) >= 100 || percent(left) + percent(right) >= 100;
    }
    return /^(?:circle|ellipse)\(0(?:px|%)?[ )]|^polygon\((?:[\s,]|0(?:px|%)?(?=[\s,)]))*\)/.test(path);
  };

  /** Why the element and all in it cannot be seen; `visibility` and `colour` are properties of text, decided there. */
  const hiddenWhole = (element: PageElement, style: PageStyle, opacity: number): string | undefined => {
    if (style.display === 'none' || style.contentVisibility === 'hidden') return 'display';
    const root = element === body || element === documentElement;
    if (root) return undefined;
    if (opacity < 0.05) return 'opacity';
    const placed = style.position === 'absolute' || style.position === 'fixed';
    const clipped = style.overflowX !== 'visible' || style.overflowY !== 'visible';
    const moved = ['transform', 'translate', 'scale', 'rotate'].some((name) => !/^(?:none)?$/.test(style[name] ?? ''));
    const pushed =
      Number.parseFloat(style.marginLeft ?? '0') < -500 || Number.parseFloat(style.marginTop ?? '0') < -500;
    if (placed && (style.clip === 'rect(0px, 0px, 0px, 0px)' || style.clip === 'rect(1px, 1px, 1px, 1px)'))
      return 'size';
    if (cutAway(style.clipPath ?? '')) return 'size';
    if (!placed && !clipped && !moved && !pushed) return undefined;
    if (style.display === 'contents' || style.display === 'inline') return undefined;
    const rect = boxOf(element);
    if (clipped && (rect.width <= 1 || rect.height <= 1)) return 'size';
    if (moved && /^matrix\(0, 0, 0, 0,|^0(?: 0)?$/.test(`${style.transform}`.replace('none', style.scale ?? '')))
      return 'size';
    if (rect.width === 0 && rect.height === 0) return undefined;
    if (pushed && (rect.left + window.scrollX < -500 || rect.top + window.scrollY < -500)) return 'offscreen';
    const far = placed ? 0 : -1_000;
    if (rect.right + window.scrollX <= far || rect.bottom + window.scrollY <= far) return 'offscreen';
    return undefined;
  };

  const bodyShows = () => !body || window.getComputedStyle(body).visibility === 'visible';

  const ownText = (element: PageElement): PageNode | undefined => {
    for (let child = firstChild(element); child; child = nextSibling(child))
      if (nodeType(child) === 3 && /\S/.test(nodeValue(child) ?? '')) return child;
    return undefined;
  };
  // To ask what stands at a point takes time in the square of the elements in a line.
  const isSmall = Document.prototype.getElementsByTagName.call(document, '*').length <= options.maxPointedElements;
  let pointingMs = 0;
  /** Whether a surface that is no window of its own lies over the beginning of the element's text. */
  const covered = (element: PageElement): boolean => {
    if (!isSmall || pointingMs > options.maxPointingMs) return false;
    const startedAt = performance.now();
    const found = isCovered(element);
    pointingMs += performance.now() - startedAt;
    return found;
  };
  const isCovered = (element: PageElement): boolean => {
    const range = new Range();
    Range.prototype.selectNodeContents.call(range, ownText(element)!);
    const text = Range.prototype.getClientRects.call(range)[0];
    // What a closed `details` holds has no place yet.
    if (!text || text.width === 0 || !Element.prototype.checkVisibility.call(element)) return false;
    const x = (text.left + Math.min(text.right, window.innerWidth)) / 2;
    const y = (text.top + text.bottom) / 2;
    if (x < 0 || y < 0 || x >= window.innerWidth || y >= window.innerHeight) return false;
    const contains = (holder: PageElement, other: PageElement) => Node.prototype.contains.call(holder, other);
    const top = Document.prototype.elementFromPoint.call(document, x, y);
    if (!top || contains(top, element) || contains(element, top)) return false;
    for (let layer: PageElement | null = top; layer && !contains(layer, element); layer = parentElement(layer)) {
      styled++;
      const style = window.getComputedStyle(layer);
      if (style.position === 'fixed' || style.position === 'sticky') return false;
      const box = boxOf(layer);
      const isLarge = box.width * box.height > (window.innerWidth * window.innerHeight) / 2;
      const isAround =
        box.left <= text.left && box.right >= text.right && box.top <= text.top && box.bottom >= text.bottom;
      if (isAround && !isLarge && colour(style.backgroundColor)?.[3] === 1 && Number(style.opacity) === 1) return true;
    }
    return false;
  };

  /** Why the text that stands directly in the element cannot be seen. */
  const hiddenText = (element: PageElement, style: PageStyle, back: Colour | undefined): string | undefined => {
    if (style.visibility !== 'visible' && bodyShows()) return 'visibility';
    if (Number.parseFloat(style.fontSize ?? '16') < 2) return 'size';
    if (Number.parseFloat(style.textIndent ?? '0') <= -500) return 'offscreen';
    if (style.backgroundClip === 'text' || style.webkitBackgroundClip === 'text') return undefined;
    const shown = colour(style.webkitTextFillColor || style.color);
    if (style.textShadow && style.textShadow !== 'none') return undefined;
    if (!shown) return undefined;
    if (shown[3] < 0.05) return 'colour';
    if (back !== undefined && alike(over(shown, back), back) && !overPicture(element)) return 'colour';
    return covered(element) ? 'covered' : undefined;
  };

  const backOf = (style: PageStyle, back: Colour | undefined) => {
    if (style.backgroundImage !== 'none') return undefined;
    const own = colour(style.backgroundColor);
    if (!own || own[3] === 0) return back;
    return own[3] === 1 ? own : back && over(own, back);
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

  /** What is in something hidden is not asked any more. */
  const UNSEEN: Sight = { look: false, back: undefined, opacity: 1, unseen: undefined };
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
      const fades = name === 'img' && (style.transitionDuration !== '0s' || style.animationName !== 'none');
      const opacity = fades ? 1 : sight.opacity * Number(style.opacity);
      const says = firstChild(element) || shadowRoot(element) || name === 'img';
      hidden = says ? hiddenWhole(element, style, opacity) : undefined;
      if (name === 'img' && style.visibility !== 'visible' && bodyShows()) hidden ??= 'visibility';
      const stays = element === body || (options.keepMedia && MEDIA.has(name));
      if (style.display === 'none' && options.detachInvisibles && !stays) return;
      if (hidden) sight = UNSEEN;
      else {
        const back = backOf(style, sight.back);
        if (ownText(element)) unseen = hiddenText(element, style, back);
        sight = { look: true, back, opacity, unseen };
        if (unseen && children(element).length === 0) {
          hidden = unseen;
          sight = UNSEEN;
        }
      }
    }

    if (html && (name === 'iframe' || name === 'frame')) {
      const loaded = ['src', 'srcdoc'].some((key) => Element.prototype.hasAttribute.call(element, key));
      if (loaded && (options.withFrames || name === 'frame') && !hidden) {
        frames.push(element);
        cut();
        return;
      }
      if (loaded) hiddenFrames = true;
    }
    const transparent = options.withShadowDom && html && name === 'slot';
    // Parsers let nothing but frames stand in a frameset.
    const written = !html || name !== 'frameset' ? name : element === body ? 'body' : 'div';
    if (!transparent) write(openTag(element, written, hidden));
    if (html && VOID.has(name)) return;
    const inner = childrenOf(element, html);
    const first = inner.next;
    if (PRE.has(name) && first && nodeType(first) === 3 && nodeValue(first)?.startsWith('\n')) write('\n');
    stack.push({ ...inner, at: 0, close: transparent ? '' : `</${written}>`, sight, raw: html && RAW.has(name) });
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

  const start: Sight = { look: false, back: [255, 255, 255, 1], opacity: 1, unseen: undefined };
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
export function readText(): { readonly url: string; readonly text: string } {
  return { url: window.location.href, text: document.body?.innerText ?? '' };
}
