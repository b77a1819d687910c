/**
 * Captures a document inside the page: serializes its HTML and marks the elements that a person would not see. The
 * capture changes nothing, so a page that observes its own DOM does not notice it. The walk is iterative, so deep
 * documents cannot overflow the call stack. Elements are serialized as in the HTML standard, with additions for the
 * options.
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
  /**
   * Whether to split the output at each `iframe`, so that the content of the frame can be inserted. The output is
   * always split at the frames of a frameset.
   */
  readonly withFrames: boolean;
  readonly detachInvisibles: boolean;
  /**
   * Never omits audio and video elements as hidden: audio elements have no box, and players hide videos until playback,
   * which never starts in this browser.
   */
  readonly keepMedia: boolean;
  /** For the document of a frame: only the content of the body, without scripts and styles, with absolute URLs. */
  readonly fragment: boolean;
  readonly hiddenAttribute: string;
  readonly frameAttribute: string;
  /** Value of `frameAttribute` on the body that replaces a frameset. */
  readonly frameset: string;
  readonly maxChars: number;
  /** Maximum number of style lookups. */
  readonly maxStyleLookups: number;
  /** Maximum total time of hit tests, in milliseconds. */
  readonly maxHitTestMs: number;
  /** Documents with more elements get no hit tests. */
  readonly maxHitTestElements: number;
}

export interface DocumentCapture {
  readonly url: string;
  readonly title: string;
  readonly contentType: string;
  /** The encoding in which the browser read the document. */
  readonly encoding: string;
  readonly elements: number;
  /** The HTML, split at each frame with content that can be inserted. There is one more part than there are frames. */
  readonly parts: readonly string[];
  /** Whether the document has frames with content that cannot be inserted. */
  readonly hiddenFrames: boolean;
  /** Whether the document has open shadow roots that were not serialized. */
  readonly hiddenShadow: boolean;
  readonly truncated: boolean;
  readonly readyState: string;
}

/** Red, green and blue up to 255, alpha up to 1. */
type Color = readonly [red: number, green: number, blue: number, alpha: number];

/** State that an element passes to its content. */
interface Inherited {
  /** Whether to look up styles: inside the body, but not inside hidden elements. */
  readonly checked: boolean;
  /** Color of the background; undefined if an image makes it unknown. */
  readonly background: Color | undefined;
  /** Product of the opacities of the element and its ancestors. */
  readonly opacity: number;
  /** Why text directly in the element is invisible. */
  readonly hiddenText: string | undefined;
}

/** An element that is being written. Its remaining content is `next` and its siblings, or `list` from index `at`. */
interface OpenElement {
  next: PageNode | null;
  list: readonly PageNode[] | undefined;
  at: number;
  readonly endTag: string;
  readonly inherited: Inherited;
  /** Whether text is written unescaped. */
  readonly raw: boolean;
}

/**
 * Captures the document, and stores its frames in `globalThis.framesFound`. This must remain a single function, because
 * it is sent to the page as source and cannot use anything outside itself. Its parts are inner functions:
 * `createOutput`, `createTagWriter`, `createColors`, `createVisibility` and `createWalk`.
 */
export function captureDocument(options: CaptureOptions): DocumentCapture {
  const HTML = 'http://www.w3.org/1999/xhtml';
  const SVG = 'http://www.w3.org/2000/svg';
  const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
  const RAW_TEXT = new Set('style script xmp iframe noembed noframes plaintext noscript'.split(' '));
  /** Elements that are never displayed, so they are not marked as hidden. */
  const METADATA = new Set(
    'head title base link meta script style template noscript param source track datalist'.split(' '),
  );
  /** Parsers drop a newline at the start of these elements (HTML standard, "Serializing HTML fragments"). */
  const DROPS_NEWLINE = new Set(['pre', 'textarea', 'listing']);
  const PICTURES = new Set(['img', 'video', 'canvas', 'svg', 'picture', 'iframe']);
  const MEDIA = new Set(['audio', 'video']);
  const URL_ATTRIBUTES = new Set(['href', 'src', 'poster', 'data', 'action', 'cite', 'longdesc']);

  // Form controls and named elements shadow properties of the same name (`<input name="firstChild">`). Properties are
  // therefore read through the getters of the prototypes, which the page cannot change in this world.
  const getter = <Owner, Value>(owner: string, property: string) => {
    const prototype = (globalThis as unknown as Record<string, { prototype: object }>)[owner]!.prototype;
    const { get } = Object.getOwnPropertyDescriptor(prototype, property)!;
    return (of: Owner) => get!.call(of) as Value;
  };
  const firstChild = getter<PageNode, PageNode | null>('Node', 'firstChild');
  const nextSibling = getter<PageNode, PageNode | null>('Node', 'nextSibling');
  const nodeType = getter<PageNode, number>('Node', 'nodeType');
  const nodeName = getter<PageNode, string>('Node', 'nodeName');
  const nodeValue = getter<PageNode, string | null>('Node', 'nodeValue');
  const parentElement = getter<PageNode, PageElement | null>('Node', 'parentElement');
  const baseUri = getter<PageNode, string>('Node', 'baseURI');
  const localName = getter<PageElement, string>('Element', 'localName');
  const namespace = getter<PageElement, string | null>('Element', 'namespaceURI');
  const attributes = getter<PageElement, PageElement['attributes']>('Element', 'attributes');
  const shadowRoot = getter<PageElement, PageNode | null>('Element', 'shadowRoot');
  const children = getter<PageElement, ArrayLike<PageElement>>('Element', 'children');
  const documentElement = getter<PageDocument, PageElement | null>('Document', 'documentElement')(document);
  const body = getter<PageDocument, PageElement | null>('Document', 'body')(document);
  const ofDocument = (property: string) => getter<PageDocument, string>('Document', property)(document);

  /** The initial style. A browser renders pages on white. */
  const start: Inherited = { checked: false, background: [255, 255, 255, 1], opacity: 1, hiddenText: undefined };

  const output = createOutput();
  const tags = createTagWriter();
  const visibility = createVisibility(createColors());
  const walk = createWalk();

  const truncated = walk.run();
  output.cut();
  (globalThis as { framesFound?: unknown }).framesFound = walk.frames;
  return {
    url: window.location.href,
    title: ofDocument('title'),
    contentType: ofDocument('contentType'),
    encoding: ofDocument('characterSet'),
    ...walk.counts(),
    parts: output.parts,
    truncated,
    readyState: ofDocument('readyState'),
  };

  /** Collects the HTML in parts. */
  function createOutput() {
    const parts: string[] = [];
    let pieces: string[] = [];
    let chars = 0;
    return {
      parts,
      isFull: () => chars > options.maxChars,
      write(text: string) {
        chars += text.length;
        pieces.push(text);
      },
      /** Ends the current part. */
      cut() {
        parts.push(pieces.join(''));
        pieces = [];
      },
    };
  }

  /** Writes start tags and text; in fragments, with absolute URLs and without event handlers. */
  function createTagWriter() {
    const base = baseUri(document);
    const absolute = (url: string) => {
      try {
        return /^\s*(#|javascript:|data:)/i.test(url) ? url : new URL(url, base).href;
      } catch {
        return url;
      }
    };
    const absoluteSrcset = (value: string) =>
      value
        .split(/,\s+/)
        .map((entry) => {
          const text = entry.trim();
          const space = text.indexOf(' ');
          return space < 0 ? absolute(text) : absolute(text.slice(0, space)) + text.slice(space);
        })
        .join(', ');

    const escapeText = (text: string) =>
      /[&<>\u00a0]/.test(text)
        ? text
            .replace(/&/g, '&amp;')
            .replace(/</g, '&lt;')
            .replace(/>/g, '&gt;')
            .replace(/\u00a0/g, '&nbsp;')
        : text;
    const escapeValue = (text: string) => (/[&"<>\u00a0]/.test(text) ? escapeText(text).replace(/"/g, '&quot;') : text);

    const startTag = (element: PageElement, name: string, hidden: string | undefined) => {
      let tag = `<${name}`;
      const list = attributes(element);
      for (let at = 0; at < list.length; at++) {
        const { name: key, value } = list[at]!;
        if (key === options.hiddenAttribute || key === options.frameAttribute) continue;
        if (options.fragment && key.startsWith('on')) continue;
        let written = value;
        if (options.fragment && URL_ATTRIBUTES.has(key)) written = absolute(value);
        else if (options.fragment && key === 'srcset') written = absoluteSrcset(value);
        tag += ` ${key}="${escapeValue(written)}"`;
      }
      if (name === 'body' && element === body && localName(element) === 'frameset')
        tag += ` ${options.frameAttribute}="${options.frameset}"`;
      if (hidden) tag += ` ${options.hiddenAttribute}="${hidden}"`;
      return `${tag}>`;
    };
    return { startTag, escapeText };
  }

  /** Parses, mixes and compares CSS colors. */
  function createColors() {
    const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
    const parsed = new Map<string, Color | undefined>();
    const parse = (text: string | undefined): Color | undefined => {
      if (!text) return undefined;
      if (parsed.has(text)) return parsed.get(text);
      let found: Color | undefined;
      const numbers = /^rgba?\(/.test(text) ? text.match(/[\d.]+/g)?.map(Number) : undefined;
      if (numbers) found = [numbers[0]!, numbers[1]!, numbers[2]!, numbers[3] ?? 1];
      else {
        pixel.clearRect(0, 0, 1, 1);
        pixel.fillStyle = text;
        pixel.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
        found = [red!, green!, blue!, alpha! / 255];
      }
      parsed.set(text, found);
      return found;
    };
    const over = ([red, green, blue, alpha]: Color, background: Color): Color => {
      const mixed = (own: number, behind: number) => own * alpha + behind * (1 - alpha);
      return [mixed(red, background[0]), mixed(green, background[1]), mixed(blue, background[2]), 1];
    };
    const luminance = (of: Color) => {
      const linear = (channel: number) =>
        channel <= 10.3 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
      return 0.2126 * linear(of[0]) + 0.7152 * linear(of[1]) + 0.0722 * linear(of[2]);
    };
    /** The same rule as in src/html/css/color.ts. */
    const looksTheSame = (one: Color, other: Color) => {
      if (Math.abs(one[0] - other[0]) + Math.abs(one[1] - other[1]) + Math.abs(one[2] - other[2]) > 60) return false;
      const [a, b] = [luminance(one), luminance(other)];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 1.15;
    };
    return { parse, over, looksTheSame };
  }

  /** Decides which elements and texts a person cannot see, from computed styles, boxes and hit tests. */
  function createVisibility(colors: ReturnType<typeof createColors>) {
    let styleLookups = 0;
    let hitTestMs = 0;
    // The time for a hit test is quadratic in the number of elements in a line.
    const isSmall = Document.prototype.getElementsByTagName.call(document, '*').length <= options.maxHitTestElements;

    const countedStyle = (element: PageElement) => {
      styleLookups++;
      return window.getComputedStyle(element);
    };
    const boxOf = (element: PageElement) => Element.prototype.getBoundingClientRect.call(element);
    const isBodyVisible = () => !body || window.getComputedStyle(body).visibility === 'visible';
    const ownText = (element: PageElement): PageNode | undefined => {
      for (let child = firstChild(element); child; child = nextSibling(child))
        if (nodeType(child) === 3 && /\S/.test(nodeValue(child) ?? '')) return child;
      return undefined;
    };

    /** Whether the box of `layer` contains the center of the other box. */
    const containsMiddle = (layer: PageElement, element: PageElement) => {
      const outer = boxOf(layer);
      const inner = boxOf(element);
      const x = (inner.left + inner.right) / 2;
      const y = (inner.top + inner.bottom) / 2;
      return outer.left < x && x < outer.right && outer.top < y && y < outer.bottom;
    };

    /**
     * Whether an image or a layer may be behind the text, which makes it visible even in the color of its background.
     */
    const mayBeOverPicture = (element: PageElement) => {
      const isLayer = (other: PageElement) => {
        const { position } = countedStyle(other);
        return PICTURES.has(localName(other)) || position === 'absolute' || position === 'fixed';
      };
      let up: PageElement | null = element;
      for (let steps = 0; up && up !== body && steps < 8; steps++, up = parentElement(up)) {
        const style = window.getComputedStyle(up);
        if (style.backgroundImage !== 'none') return true;
        if (style.position !== 'static' && Element.prototype.querySelector.call(up, [...PICTURES].join())) return true;
        for (const pseudo of ['::before', '::after']) {
          const layer = window.getComputedStyle(up, pseudo);
          if (
            layer.content !== 'none' &&
            (layer.backgroundImage !== 'none' || colors.parse(layer.backgroundColor)?.[3])
          )
            return true;
        }
        const parent: PageElement | null = parentElement(up);
        const siblings = parent ? children(parent) : [];
        for (let at = 0; at < Math.min(siblings.length, 20); at++) {
          const sibling: PageElement = siblings[at]!;
          if (sibling !== up && isLayer(sibling) && containsMiddle(sibling, element)) return true;
        }
      }
      return false;
    };

    /**
     * Whether a `clip-path` leaves nothing visible: an inset with sides that meet, a circle of size 0, or a polygon
     * with a single point.
     */
    const isClippedAway = (path: string) => {
      const inset = /^inset\(([^()]*)/.exec(path)?.[1]?.replace(/\bround\b.*/, '');
      if (inset !== undefined) {
        const [top = '', right = top, bottom = top, left = right] = inset.trim().split(/\s+/);
        const percent = (side: string) => (side.endsWith('%') ? Number.parseFloat(side) : 0);
        return percent(top) + percent(bottom) >= 100 || percent(left) + percent(right) >= 100;
      }
      return /^(?:circle|ellipse)\(0(?:px|%)?[ )]|^polygon\((?:[\s,]|0(?:px|%)?(?=[\s,)]))*\)/.test(path);
    };

    /**
     * The reason why an element and all its content are invisible. `visibility` and colors are checked for each text
     * instead.
     */
    const reasonForElement = (element: PageElement, style: PageStyle, opacity: number): string | undefined => {
      if (style.display === 'none' || style.contentVisibility === 'hidden') return 'display';
      if (element === body || element === documentElement) return undefined;
      if (opacity < 0.05) return 'opacity';
      const placed = style.position === 'absolute' || style.position === 'fixed';
      const clipped = style.overflowX !== 'visible' || style.overflowY !== 'visible';
      const moved = ['transform', 'translate', 'scale', 'rotate'].some(
        (name) => !/^(?:none)?$/.test(style[name] ?? ''),
      );
      const pushed =
        Number.parseFloat(style.marginLeft ?? '0') < -500 || Number.parseFloat(style.marginTop ?? '0') < -500;
      if (placed && (style.clip === 'rect(0px, 0px, 0px, 0px)' || style.clip === 'rect(1px, 1px, 1px, 1px)'))
        return 'size';
      if (isClippedAway(style.clipPath ?? '')) return 'size';
      if (!placed && !clipped && !moved && !pushed) return undefined;
      if (style.display === 'contents' || style.display === 'inline') return undefined;
      const box = boxOf(element);
      if (clipped && (box.width <= 1 || box.height <= 1)) return 'size';
      if (moved && /^matrix\(0, 0, 0, 0,|^0(?: 0)?$/.test(`${style.transform}`.replace('none', style.scale ?? '')))
        return 'size';
      if (box.width === 0 && box.height === 0) return undefined;
      if (pushed && (box.left + window.scrollX < -500 || box.top + window.scrollY < -500)) return 'offscreen';
      const edge = placed ? 0 : -1_000;
      if (box.right + window.scrollX <= edge || box.bottom + window.scrollY <= edge) return 'offscreen';
      return undefined;
    };

    /** Whether an opaque layer, neither fixed nor sticky, covers the start of an element's text. */
    const isCovered = (element: PageElement): boolean => {
      if (!isSmall || hitTestMs > options.maxHitTestMs) return false;
      const startedAt = performance.now();
      const covered = hitTest(element);
      hitTestMs += performance.now() - startedAt;
      return covered;
    };
    const hitTest = (element: PageElement): boolean => {
      const range = new Range();
      Range.prototype.selectNodeContents.call(range, ownText(element)!);
      const text = Range.prototype.getClientRects.call(range)[0];
      // The content of a closed `details` has no position yet.
      if (!text || text.width === 0 || !Element.prototype.checkVisibility.call(element)) return false;
      const x = (text.left + Math.min(text.right, window.innerWidth)) / 2;
      const y = (text.top + text.bottom) / 2;
      if (x < 0 || y < 0 || x >= window.innerWidth || y >= window.innerHeight) return false;
      const contains = (holder: PageElement, other: PageElement) => Node.prototype.contains.call(holder, other);
      const top = Document.prototype.elementFromPoint.call(document, x, y);
      if (!top || contains(top, element) || contains(element, top)) return false;
      for (let layer: PageElement | null = top; layer && !contains(layer, element); layer = parentElement(layer)) {
        const style = countedStyle(layer);
        if (style.position === 'fixed' || style.position === 'sticky') return false;
        const box = boxOf(layer);
        const isLarge = box.width * box.height > (window.innerWidth * window.innerHeight) / 2;
        const isAround =
          box.left <= text.left && box.right >= text.right && box.top <= text.top && box.bottom >= text.bottom;
        const isOpaque = () => colors.parse(style.backgroundColor)?.[3] === 1 && Number(style.opacity) === 1;
        if (isAround && !isLarge && isOpaque()) return true;
      }
      return false;
    };

    /** The reason why text directly in an element is invisible. */
    const reasonForText = (
      element: PageElement,
      style: PageStyle,
      background: Color | undefined,
    ): string | undefined => {
      if (style.visibility !== 'visible' && isBodyVisible()) return 'visibility';
      if (Number.parseFloat(style.fontSize ?? '16') < 2) return 'size';
      if (Number.parseFloat(style.textIndent ?? '0') <= -500) return 'offscreen';
      if (style.backgroundClip === 'text' || style.webkitBackgroundClip === 'text') return undefined;
      const color = colors.parse(style.webkitTextFillColor || style.color);
      if (style.textShadow && style.textShadow !== 'none') return undefined;
      if (!color) return undefined;
      if (color[3] < 0.05) return 'color';
      if (background && colors.looksTheSame(colors.over(color, background), background)) {
        if (!mayBeOverPicture(element)) return 'color';
      }
      return isCovered(element) ? 'covered' : undefined;
    };

    const backgroundOf = (style: PageStyle, behind: Color | undefined) => {
      if (style.backgroundImage !== 'none') return undefined;
      const own = colors.parse(style.backgroundColor);
      if (!own || own[3] === 0) return behind;
      return own[3] === 1 ? own : behind && colors.over(own, behind);
    };

    /** Used for the content of hidden elements, which is not checked. */
    const UNCHECKED: Inherited = { checked: false, background: undefined, opacity: 1, hiddenText: undefined };

    /**
     * The reason why an element is hidden, and the state that its content inherits; undefined if the element must be
     * omitted.
     */
    const check = (
      element: PageElement,
      name: string,
      above: Inherited,
    ): { hidden: string | undefined; inherited: Inherited } | undefined => {
      const style = countedStyle(element);
      const isFading = name === 'img' && (style.transitionDuration !== '0s' || style.animationName !== 'none');
      const opacity = isFading ? 1 : above.opacity * Number(style.opacity);
      const hasContent = firstChild(element) || shadowRoot(element) || name === 'img';
      let hidden = hasContent ? reasonForElement(element, style, opacity) : undefined;
      if (name === 'img' && style.visibility !== 'visible' && isBodyVisible()) hidden ??= 'visibility';
      const isKept = element === body || (options.keepMedia && MEDIA.has(name));
      if (style.display === 'none' && options.detachInvisibles && !isKept) return undefined;
      if (hidden) return { hidden, inherited: UNCHECKED };
      const background = backgroundOf(style, above.background);
      const hiddenText = ownText(element) ? reasonForText(element, style, background) : undefined;
      if (hiddenText && children(element).length === 0) return { hidden: hiddenText, inherited: UNCHECKED };
      return { hidden: undefined, inherited: { checked: true, background, opacity, hiddenText } };
    };
    /** The background against which the content of the body is checked. */
    const bodyBackground = (): Color | undefined => {
      let background: Color | undefined = start.background;
      for (const element of [documentElement, body])
        if (element) background = backgroundOf(countedStyle(element), background);
      return background;
    };

    return { check, bodyBackground, canCheck: () => styleLookups < options.maxStyleLookups };
  }

  /** Visits all nodes in document order and serializes them. */
  function createWalk() {
    const frames: PageElement[] = [];
    const stack: OpenElement[] = [];
    let elements = 0;
    let hiddenFrames = false;
    let hiddenShadow = false;

    const contentOf = (element: PageElement, html: boolean): Pick<OpenElement, 'next' | 'list'> => {
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

    /** Cuts the output at a frame if its content can be inserted. Returns whether it did. */
    const cutOutFrame = (element: PageElement, name: string, hidden: string | undefined): boolean => {
      const hasSource = ['src', 'srcdoc'].some((key) => Element.prototype.hasAttribute.call(element, key));
      if (!hasSource) return false;
      if ((options.withFrames || name === 'frame') && !hidden) {
        frames.push(element);
        output.cut();
        return true;
      }
      hiddenFrames = true;
      return false;
    };

    /** Writes the start tag of an element, and pushes the element onto the stack if it can have content. */
    const openElement = (element: PageElement, above: Inherited) => {
      elements++;
      const html = namespace(element) === HTML;
      const name = html ? localName(element) : nodeName(element);
      if (options.fragment && (name === 'script' || name === 'style' || name === 'link' || name === 'noscript')) return;

      let inherited = element === body ? { ...above, checked: true } : above;
      let hidden: string | undefined;
      if (inherited.checked && html && !METADATA.has(name) && visibility.canCheck()) {
        const found = visibility.check(element, name, inherited);
        if (!found) return;
        ({ hidden, inherited } = found);
      }

      if (html && (name === 'iframe' || name === 'frame') && cutOutFrame(element, name, hidden)) return;
      const transparent = options.withShadowDom && html && name === 'slot';
      // Inside a frameset, parsers accept only frames.
      const written = !html || name !== 'frameset' ? name : element === body ? 'body' : 'div';
      if (!transparent) output.write(tags.startTag(element, written, hidden));
      if (html && VOID.has(name)) return;
      const content = contentOf(element, html);
      const first = content.next;
      if (DROPS_NEWLINE.has(name) && first && nodeType(first) === 3 && nodeValue(first)?.startsWith('\n'))
        output.write('\n');
      const endTag = transparent ? '' : `</${written}>`;
      stack.push({ ...content, at: 0, endTag, inherited, raw: html && RAW_TEXT.has(name) });
    };

    const writeNode = (node: PageNode, { raw, inherited }: OpenElement) => {
      const type = nodeType(node);
      if (type === 1) openElement(node as PageElement, inherited);
      else if (type === 3 || type === 4) {
        const text = nodeValue(node) ?? '';
        if (raw) output.write(text);
        else if (inherited.hiddenText && /\S/.test(text))
          output.write(`<span ${options.hiddenAttribute}="${inherited.hiddenText}">${tags.escapeText(text)}</span>`);
        else output.write(tags.escapeText(text));
      } else if (type === 8 && !options.fragment)
        output.write(`<!--${(nodeValue(node) ?? '').replace(/--!?>/g, '')}-->`);
    };

    const takeNext = (open: OpenElement): PageNode | null => {
      if (open.list) return open.list[open.at++] ?? null;
      const node = open.next;
      if (node) open.next = nextSibling(node);
      return node;
    };

    const pushFragment = (root: PageElement) =>
      stack.push({
        next: firstChild(body ?? root),
        list: undefined,
        at: 0,
        endTag: '',
        inherited: { ...start, checked: Boolean(body), background: visibility.bodyBackground() },
        raw: false,
      });

    return {
      frames,
      counts: () => ({ elements, hiddenFrames, hiddenShadow }),
      /** Serializes the whole document. Returns whether the output was truncated. */
      run(): boolean {
        if (documentElement && options.fragment) pushFragment(documentElement);
        else if (documentElement) openElement(documentElement, start);
        let truncated = false;
        while (stack.length) {
          const open = stack[stack.length - 1]!;
          const node = takeNext(open);
          if (output.isFull()) truncated = true;
          if (node && !truncated) writeNode(node, open);
          else {
            output.write(open.endTag);
            stack.pop();
          }
        }
        return truncated;
      },
    };
  }
}

/** The text of a document as it is displayed. */
export function readText(): { readonly url: string; readonly text: string } {
  return { url: window.location.href, text: document.body?.innerText ?? '' };
}
