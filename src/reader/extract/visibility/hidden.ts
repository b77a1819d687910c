/**
 * Removes everything that a person cannot see, so that a model reads no text that people do not see: hidden elements,
 * text without size or contrast, and invisible characters.
 */

import { carriesHiddenText, cleanCharacters } from '#html/characters.ts';
import { MIN_VISIBLE_OPACITY } from '#html/css/appearance.ts';
import {
  attribute,
  type Child,
  children,
  type Document,
  detach,
  ELEMENT,
  type Element,
  elements,
  following,
  TEXT,
  textOf,
} from '#html/node.ts';
import { HIDDEN_ATTRIBUTE } from '../../snapshot.ts';
import { DetachedElements } from './detached-elements.ts';
import { createDisclosures, isOverlay } from './disclosure.ts';
import { isNotable, isNotableLabel, isOrder, labelsOf } from './notable.ts';
import { type PageStyles, readPageStyles } from './page-styles.ts';
import { createPictureTracker } from './picture-tracker.ts';
import { createAnimationStarts, mayBeRevealed } from './reveal-names.ts';
import { createSlideDetector } from './slide-detector.ts';
import { createPaneDetector } from './switched-panes.ts';
import {
  createAppearanceReader,
  type ElementAppearance,
  initialTextStyle,
  type TextStyle,
  textStyleInside,
  unreadableReason,
} from './text-style.ts';
import { MAX_BARE_LETTERS, MIN_WAITING_LETTERS, mayWait, reveal, WAITING } from './waiting.ts';

export interface HiddenParts {
  /** The number of removed parts. */
  readonly count: number;
  /** The number of those that are worth a warning. */
  readonly notable: number;
  /** Whether most of the text is hidden by styles and was kept, since scripts may show it. */
  readonly kept: boolean;
  /** Removed elements that style sheets hide. */
  readonly detached: DetachedElements;
  /** Whether the page shows next to nothing without hidden text. */
  readonly isBare: boolean;
  /** Whether the main part of the page is hidden, as until its scripts have run. */
  readonly isMainHidden: boolean;
  /** Whether parts were kept because of that. */
  readonly waits: boolean;
}

/** The way in which a part is hidden. */
type Kind = 'attribute' | 'display' | 'visibility' | 'opacity' | 'place' | 'size' | 'color';

interface Finding {
  readonly node: Child;
  readonly kind: Kind;
  readonly reason: string;
  /** Whether scripts are likely to show the part, since some pages are completely hidden at first. */
  readonly mayBeShown: boolean;
}

/** How style sheets close a panel. */
const CLOSING: ReadonlySet<Kind> = new Set<Kind>(['display', 'size']);
/** The same as marked by the browser engine. Panels that open slowly are transparent or invisible while they are closed. */
const CLOSING_MARKS = new Set(['display', 'size', 'opacity', 'visibility']);

/** Elements that never contain readable text; their text is not checked. */
const NO_TEXT = new Set(['script', 'style', 'template', 'head', 'title']);

/**
 * Media can be played even if they are invisible. They are kept, without their text, for callers that request media.
 */
const MEDIA = new Set(['audio', 'video']);
const MEDIA_PARTS = new Set(['source', 'track']);
const PLAYED = new Set([
  'src',
  'type',
  'poster',
  'controls',
  'width',
  'height',
  'loop',
  'muted',
  'autoplay',
  'preload',
]);
const PICTURES = new Set(['img', 'picture']);

/** Minimum length of the hidden text of a page that depends on its scripts to show it. */
const MIN_KEPT_CHARACTERS = 1000;

/**
 * Removes invisible parts from the document. `html` and `body` are never removed, but their hiding styles are inherited
 * as in CSS. `onRemove` is called with each part while it is still in the tree, and with each text that lost characters
 * but remains.
 */
export function removeHidden(
  document: Document,
  onRemove?: (node: Child, reason: string) => void,
  styles: PageStyles = readPageStyles(document),
  allowsLastResort = false,
): HiddenParts {
  const keep = new Set<Kind>();
  let found = findHidden(document, styles, keep);
  for (let most = kindToIgnore(found); most; most = kindToIgnore(found)) {
    keep.add(most);
    found = findHidden(document, styles, keep);
  }
  const isMainHidden = found.shown.main === 0 && hidesMain(found);
  const isBare = isMainHidden || found.shown.content < MAX_BARE_LETTERS;
  const waits = allowsLastResort && isBare && lettersWaiting(found) >= MIN_WAITING_LETTERS;
  if (waits) {
    found = findHidden(document, styles, new Set<Kind>(WAITING), true);
  }
  found.revealed.forEach(reveal);
  for (const { node, reason } of found.findings) onRemove?.(node, reason);
  let notable = found.findings.filter(isNotable).length;
  const isReattachable = ({ node, reason }: Finding) => reason === 'style sheet' && node.type === ELEMENT;
  for (const finding of found.findings) if (!isReattachable(finding)) detach(finding.node);
  const detached = new DetachedElements();
  for (const finding of found.findings) if (isReattachable(finding)) detached.detach(finding.node as Element);
  let count = found.findings.length;
  for (const element of found.emptied) {
    const isNotableText = isNotableLabel(labelsOf(element));
    if (!removeText(element)) continue;
    count++;
    if (isNotableText) notable++;
  }
  const cleaned = cleanText(document, onRemove);
  return {
    count: count + cleaned,
    notable: notable + cleaned,
    kept: keep.size > 0,
    detached,
    isBare,
    isMainHidden,
    waits,
  };
}

interface Found {
  readonly findings: readonly Finding[];
  /** Media and pictures that remain, but lose their text. */
  readonly emptied: readonly Element[];
  /** Numbers of visible letters. */
  readonly shown: ShownLetters;
  /** Elements that an attribute or their own style hides, and that stay. */
  readonly revealed: readonly Element[];
}

interface ShownLetters {
  readonly all: number;
  /** Outside the menus, header and footer of the page, and not only shown without scripts. */
  readonly content: number;
  /** Inside `main` and `h1`. */
  readonly main: number;
}

/** What the letters inside an element are: the innermost of these decides. */
const FRAME = new Set(['nav', 'header', 'footer', 'noscript']);
const FRAME_ROLES = new Set(['navigation', 'banner', 'contentinfo']);
const IS_FRAME = 1;
const IS_MAIN = 2;
/** A panel that a visitor can open. */
const IS_PANEL = 4;
const isFrame = (element: Element): boolean =>
  FRAME.has(element.name) || FRAME_ROLES.has(attribute(element, 'role') ?? '');
const isMain = (element: Element): boolean =>
  element.name === 'main' || element.name === 'h1' || attribute(element, 'role') === 'main';

/**
 * Walks the document once. Hiding by the kinds in `keep` is ignored if scripts may undo it; with `keepsWaiting`, if the
 * part may be the content of a page that waits for its scripts.
 */
function findHidden(document: Document, styles: PageStyles, keep: ReadonlySet<Kind>, keepsWaiting = false): Found {
  const appearanceOf = createAppearanceReader(styles);
  const pictures = createPictureTracker(styles.hasExternalSheets);
  const isSlide = createSlideDetector();
  const isPane = createPaneDetector();
  const textStyles: TextStyle[] = [initialTextStyle(styles)];
  const holders: Element[] = [];
  /** For each holder, whether it is a frame of the page, its main part or a panel. */
  const roles: number[] = [];
  const disclosures = createDisclosures(document);
  const animationStarts = createAnimationStarts(document);
  const appearsLater = (element: Element) => animationStarts.has(element) && !isOverlay(element) && !isOrder(element);
  const findings: Finding[] = [];
  const emptied: Element[] = [];
  const shown = { all: 0, content: 0, main: 0 };
  /** Numbers of open elements. */
  const open = { frames: 0, mains: 0, panels: 0 };
  const revealed: Element[] = [];
  /** Whether a visitor sees the part after a click or on scrolling. The parts of menus and footers do not count. */
  const isOpened = (element: Element, { kind, reason }: Finding) => {
    if (reason === 'style sheet' && mayBeRevealed(element, kind)) return true;
    if (reason === 'inline style' && kind === 'opacity') return appearsLater(element);
    if (open.frames > 0 && open.mains === 0) return false;
    const mark = attribute(element, HIDDEN_ATTRIBUTE) ?? '';
    switch (reason) {
      case 'style sheet':
        return CLOSING.has(kind) && (disclosures.isControlled(element) || (kind === 'display' && isPane(element)));
      case 'inline style':
        return kind === 'display'
          ? disclosures.isPanel(element) || isPane(element)
          : kind === 'size' && disclosures.isControlled(element);
      case 'hidden attribute':
        return disclosures.isPanel(element);
      case 'not visible in the browser':
        return CLOSING_MARKS.has(mark) && (disclosures.isPanel(element) || (mark === 'display' && isPane(element)));
      default:
        return false;
    }
  };
  let node: Child | null = document.first;
  while (node) {
    const next: Child | null = node.next;
    let down: Child | null = null;
    const textStyle = textStyles[textStyles.length - 1]!;
    if (node.type === TEXT) {
      const letters = node.value.trim().length;
      const kind = letters > 0 ? unreadableReason(textStyle) : null;
      const isOverPicture =
        kind === 'color' && textStyle.color!.alpha >= MIN_VISIBLE_OPACITY && pictures.mayBeBehind(holders, textStyle);
      if (kind && !isOverPicture && !keep.has(kind))
        findings.push({ node, kind, reason: 'unreadable text', mayBeShown: true });
      else {
        shown.all += letters;
        if (open.mains > 0) shown.main += letters;
        if (open.frames === 0 || open.mains > 0) shown.content += letters;
      }
    } else if (node.type === ELEMENT && !NO_TEXT.has(node.name)) {
      const appearance = appearanceOf(node, textStyle.custom);
      let inside = textStyleInside(node, appearance, textStyle, styles);
      const isPanel = disclosures.isControlled(node);
      if (
        inside.invisible &&
        !textStyle.invisible &&
        (isPanel || (appearance?.inline?.invisible && appearsLater(node)))
      ) {
        inside = { ...inside, invisible: false };
        revealed.push(node);
      }
      pictures.enter(node, appearance);
      const finding = hiddenBy(node, appearance, inside);
      const isWaiting = keepsWaiting && finding !== null && mayWait(finding.node, finding.kind);
      const isInPanel = open.panels > 0 && attribute(node, HIDDEN_ATTRIBUTE) === 'visibility';
      const isRevealed = isWaiting || (finding !== null && (isInPanel || isOpened(node, finding)));
      const isShown = isRevealed || (finding?.mayBeShown && (keep.has(finding.kind) || isSlide(node)));
      const isHidden = finding !== null && !isShown;
      if (isHidden && MEDIA.has(node.name)) emptied.push(node);
      else if (isHidden && finding.mayBeShown && PICTURES.has(node.name)) {
        for (const image of [node, ...elements(node, 'img')]) emptied.push(image);
      } else if (isHidden && node.name !== 'body' && node.name !== 'html') findings.push(finding);
      else if (node.first) {
        if (isRevealed && finding?.reason !== 'style sheet') revealed.push(node);
        const role = (isFrame(node) ? IS_FRAME : 0) | (isMain(node) ? IS_MAIN : 0) | (isPanel ? IS_PANEL : 0);
        if (role & IS_FRAME) open.frames++;
        if (role & IS_MAIN) open.mains++;
        if (role & IS_PANEL) open.panels++;
        roles.push(role);
        if (isRevealed) textStyles.push({ ...inside, opacity: 1, invisible: false });
        else textStyles.push(finding ? { ...inside, opacity: 1 } : inside);
        holders.push(node);
        down = node.first;
      }
    }
    node = down ?? next;
    while (!node && holders.length > 0) {
      const left: Element = holders.pop()!;
      const role = roles.pop()!;
      if (role & IS_FRAME) open.frames--;
      if (role & IS_MAIN) open.mains--;
      if (role & IS_PANEL) open.panels--;
      node = left.next;
      textStyles.pop();
    }
  }
  return { findings, emptied, shown, revealed };
}

/** Whether the main part of the page is in a hidden part that is large enough to be its content. */
function hidesMain({ findings }: Found): boolean {
  return findings.some(
    ({ node, kind }) =>
      node.type === ELEMENT && mayWait(node, kind) && holdsMain(node) && lettersIn(node) >= MIN_WAITING_LETTERS,
  );
}

function holdsMain(root: Element): boolean {
  for (let node = following(root, root); node; node = following(node, root))
    if (node.type === ELEMENT && isMain(node)) return true;
  return isMain(root);
}

function lettersWaiting({ findings }: Found): number {
  let letters = 0;
  for (const finding of findings) if (mayWait(finding.node, finding.kind)) letters += lettersIn(finding.node);
  return letters;
}

/** The reason why an element with all its descendants is invisible, or null. */
function hiddenBy(element: Element, appearance: ElementAppearance | null, textStyle: TextStyle): Finding | null {
  let marked: Finding | null = null;
  for (const { name, value } of element.attributes) {
    if (name === HIDDEN_ATTRIBUTE) {
      const kind = value === 'opacity' || value === 'visibility' ? value : 'attribute';
      const mayBeShown = kind !== 'attribute' || PICTURES.has(element.name);
      marked = { node: element, kind, reason: 'not visible in the browser', mayBeShown };
    } else if (name === 'hidden' && value.toLowerCase() !== 'until-found')
      return alwaysHidden(element, 'hidden attribute');
    else if (name === 'popover') return alwaysHidden(element, 'closed popover');
  }
  if (element.name === 'dialog' && attribute(element, 'open') === null) return alwaysHidden(element, 'closed dialog');
  if (marked && !PICTURES.has(element.name)) return marked;
  return hiddenByStyle(element, appearance, textStyle) ?? marked;
}

function hiddenByStyle(element: Element, appearance: ElementAppearance | null, textStyle: TextStyle): Finding | null {
  const isPicture = PICTURES.has(element.name);
  const found = (kind: Kind, isOwn: boolean, mayBeShown: boolean): Finding => ({
    node: element,
    kind,
    reason: isOwn ? 'inline style' : 'style sheet',
    mayBeShown,
  });
  if (appearance?.all.hiddenBy) {
    const isOwn = appearance.inline !== null && appearance.inline.hiddenBy !== null;
    const { hiddenBy } = appearance.all;
    return !isOwn && hiddenBy !== 'display' && isSkipLink(element) ? null : found(hiddenBy, isOwn, !isOwn);
  }
  if (appearance && textStyle.opacity < MIN_VISIBLE_OPACITY) {
    const isOwn = appearance.inline !== null && appearance.inline.opacity < MIN_VISIBLE_OPACITY;
    // A picture that its own style makes transparent is usually a tracking pixel.
    return found('opacity', isOwn, !(isOwn && isPicture));
  }
  return isPicture && textStyle.invisible ? found('visibility', false, true) : null;
}

const alwaysHidden = (node: Element, reason: string): Finding => ({
  node,
  kind: 'attribute',
  reason,
  mayBeShown: false,
});

const MAX_SKIP_LINK_CHARACTERS = 60;

/** A skip link, which becomes visible when it gets the keyboard focus. */
const isSkipLink = (element: Element): boolean =>
  element.name === 'a' &&
  (attribute(element, 'href') ?? '').startsWith('#') &&
  textOf(element).trim().length <= MAX_SKIP_LINK_CHARACTERS;

/** The kinds of hiding that pages use until their scripts run. */
const STARTING: readonly Kind[] = ['visibility', 'opacity'];

/** The kind of hiding to ignore; undefined if less than half of the text is hidden. */
function kindToIgnore({ findings, shown }: Found): Kind | undefined {
  const letters = new Map<Kind, number>();
  let all = 0;
  for (const { node, kind, mayBeShown } of findings) {
    if (!mayBeShown) continue;
    const count = lettersIn(node);
    letters.set(kind, (letters.get(kind) ?? 0) + count);
    all += count;
  }
  if (all <= MIN_KEPT_CHARACTERS || all <= shown.all) return undefined;
  const kinds = [...letters].sort((a, b) => b[1] - a[1]);
  return (kinds.find(([kind, count]) => STARTING.includes(kind) && count > MIN_KEPT_CHARACTERS) ?? kinds[0])?.[0];
}

/** Number of letters in the text, without scripts and styles. */
function lettersIn(root: Child): number {
  if (root.type === TEXT) return root.value.trim().length;
  let letters = 0;
  let node = following(root, root);
  while (node) {
    if (node.type === TEXT) letters += node.value.trim().length;
    node = following(node, root, node.type === ELEMENT && NO_TEXT.has(node.name));
  }
  return letters;
}

/** Removes the text of a picture or medium that remains; returns false if it has none. */
function removeText(element: Element): boolean {
  if (MEDIA.has(element.name)) {
    keepMedium(element);
    return false;
  }
  const before = element.attributes.length;
  element.attributes = element.attributes.filter(
    ({ name, value }) => value.trim() === '' || !(name === 'alt' || name === 'title' || name.startsWith('aria-')),
  );
  return element.attributes.length < before;
}

function keepMedium(medium: Element): void {
  const bare = (element: Element) => {
    element.attributes = element.attributes.filter(({ name }) => PLAYED.has(name));
  };
  bare(medium);
  for (const child of children(medium)) {
    if (child.type === ELEMENT && MEDIA_PARTS.has(child.name)) bare(child);
    else detach(child);
  }
}

/** Elements whose content is not part of the page's text, and may be long. */
const CODE = new Set(['script', 'style']);

/** Removes hidden characters from the text; returns the number of texts that contained any. */
function cleanText(document: Document, onRemove?: (node: Child, reason: string) => void): number {
  let count = 0;
  let node = following(document, document);
  while (node) {
    let isCode = false;
    if (node.type === TEXT) {
      const value = cleanCharacters(node.value);
      if (value !== node.value && carriesHiddenText(node.value)) {
        onRemove?.(node, 'invisible characters');
        count++;
      }
      node.value = value;
    } else if (node.type === ELEMENT) {
      isCode = CODE.has(node.name);
      if (node.name === 'img' || node.name === 'a') {
        for (const entry of node.attributes) {
          if (entry.name === 'alt' || entry.name === 'title') entry.value = cleanCharacters(entry.value);
        }
      }
    }
    node = following(node, document, isCode);
  }
  return count;
}
