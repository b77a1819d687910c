/**
 * Recognizes the elements that scripts reveal on request or on scrolling: accordions, tabs, parts that fade in. A page
 * without scripts is no exception, because archives and programs that clean pages remove them.
 */
import { attribute, type Document, type Element, elements, find } from '#html/node.ts';

const OPENED =
  /accordi|collaps|faq|toggle|expand|(?:read|show|view|see)-?(?:more|less)|(?:^|[\s_-])(?:tabs?|panel|answer|details|dropdown)(?:[_-]{1,2}(?:content|body|pane|panel|text|item|inner))|tab-?(?:pane|panel|content)/i;
const FADED_IN = /anim|fade|aos|wow|reveal|appear|scroll|transition|loading|loaded|lazy|in-?view|invisible/i;

/** Whether scripts may reveal the element, judged by its class and attribute names. */
export function mayBeRevealed({ attributes }: Element, kind: string): boolean {
  const names = kind === 'opacity' || kind === 'visibility' ? FADED_IN : OPENED;
  for (const { name, value } of attributes) {
    if (name === 'class' && names.test(value)) return true;
    if (name.startsWith('data-') && names.test(name)) return true;
    if (name === 'role' && value === 'tabpanel' && names === OPENED) return true;
  }
  return false;
}

/** An element that is moved a little or made smaller comes into its place as it appears. */
const SHIFTED = /(?:^|[;\s])(?:-webkit-)?transform\s*:[^;]*(?:translate|scale|rotate)/i;
/** No animation starts that far away. */
const FAR = /\d{4}/;

/** Slider Revolution hides its sliders until it has measured them. */
const SLIDER = 'rs-module-wrap';

export interface AnimationStarts {
  /** Whether a part that its own style makes transparent or invisible appears on its own or on scrolling. */
  has(element: Element): boolean;
}

/** Libraries write the first frame of an animation into the style of the element. Webflow gives no other sign of it. */
export function createAnimationStarts(document: Document): AnimationStarts {
  let isWebflow: boolean | undefined;
  return {
    has(element) {
      const style = attribute(element, 'style') ?? '';
      if (FAR.test(style)) return false;
      if (element.name === SLIDER || SHIFTED.test(style) || mayBeRevealed(element, 'opacity')) return true;
      isWebflow ??= isMadeWithWebflow(document);
      return isWebflow;
    },
  };
}

const WEBFLOW_SHEET = /\.webflow\.[^/]*css(?:$|\?)/;

function isMadeWithWebflow(document: Document): boolean {
  const html = find(document, 'html');
  if (html && attribute(html, 'data-wf-page') !== null) return true;
  return [...elements(document, 'link')].some((link) => WEBFLOW_SHEET.test(attribute(link, 'href') ?? ''));
}
