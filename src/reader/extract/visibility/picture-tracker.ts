/**
 * Decides whether text may be in front of a picture, such as white words on a photograph. In that case, the background
 * in its styles is not the real one.
 */
import { ELEMENT, type Element, following } from '#html/node.ts';
import type { ElementAppearance, TextStyle } from './text-style.ts';

export interface PictureTracker {
  /** Call for each element that is entered, before any call of `mayBeBehind` for its contents. */
  enter(element: Element, appearance: ElementAppearance | null): void;
  /** `holders` are the elements around the text, the outermost first. */
  mayBeBehind(holders: readonly Element[], textStyle: TextStyle): boolean;
}

const DRAWN = new Set(['img', 'picture', 'video', 'canvas', 'svg', 'iframe', 'object', 'embed']);
const SHAPES = new Set(['rect', 'path', 'circle', 'ellipse', 'polygon', 'image', 'use', 'line', 'polyline']);
const MAX_LEVELS = 8;
const MAX_NODES = 400;

/** If the page has external style sheets, any of its elements may be positioned. */
export function createPictureTracker(hasExternalSheets: boolean): PictureTracker {
  const positioned = new WeakSet<Element>();
  const overlappable = new WeakSet<Element>();
  const drawn = new Map<Element, boolean>();
  const holds = (element: Element, names: ReadonlySet<string>): boolean => {
    let found = drawn.get(element);
    if (found === undefined) {
      found = false;
      let node = following(element, element);
      for (let steps = 0; node && steps < MAX_NODES && !found; steps++, node = following(node, element)) {
        found = node.type === ELEMENT && (names.has(node.name) || overlappable.has(node));
      }
      drawn.set(element, found);
    }
    return found;
  };
  return {
    enter(element, appearance) {
      if (appearance?.all.positioned) positioned.add(element);
      if (appearance?.all.overlappable) overlappable.add(element);
    },
    mayBeBehind(holders, { colorSource, backgroundSource }) {
      if (backgroundSource !== null && backgroundSource === colorSource) return false;
      for (let at = holders.length - 1, level = 0; at >= 0 && level < MAX_LEVELS; at--, level++) {
        const element = holders[at]!;
        if (element.name === 'body') return false;
        if (element.namespace === 'svg') {
          if (element.name === 'svg') return holds(element, SHAPES);
        } else if ((hasExternalSheets || positioned.has(element)) && holds(element, DRAWN)) return true;
        if (element === backgroundSource) return false;
      }
      return false;
    },
  };
}
