import { describe, expect, it } from 'vitest';
import { matchesMedia, matchesSupports } from './conditions.ts';

const holds = (query: string) => matchesMedia(query, { width: 1280, height: 1280 });

describe('media', () => {
  it.each([
    '',
    'all',
    'screen',
    'SCREEN',
    'only screen',
    'not print',
    'print, screen',
    '(min-width: 800px)',
    'screen and (min-width:50em) and (max-width:2000px)',
    'not all and (max-width: 100px)',
    '(width >= 600px)',
    '(400px < width <= 1280px)',
    '(width)',
    'not (max-width: 600px)',
    '(max-width:1px) or (min-width:1px)',
    '((min-width:1px) and (not (max-width:1px)))',
    '(orientation: portrait)',
    '(hover: hover) and (pointer: fine)',
    '(prefers-color-scheme: light)',
    '(scripting: enabled)',
    '(min-aspect-ratio: 1/2)',
    '(-webkit-min-device-pixel-ratio: 1), (min-resolution: 96dpi)',
  ])('holds: %s', (query) => expect(holds(query)).toBe(true));

  it.each([
    'print',
    'not screen',
    'not all',
    'speech and (min-width:1px)',
    '(max-width: 640px)',
    '(width < 600px)',
    '(1300px <= width)',
    '(orientation: landscape)',
    '(hover: none)',
    '(prefers-color-scheme: dark)',
    '(prefers-reduced-motion: reduce)',
    '(min-resolution: 2dppx)',
    '(no-such-feature)',
    'not (no-such-feature)',
    'screen and',
    '(min-width:',
    ')(',
    `${'('.repeat(5000)}width`,
  ])('does not hold: %s', (query) => expect(holds(query)).toBe(false));
});

describe('supports', () => {
  it.each([
    '(display:grid)',
    '(display:grid) and (not (display:-ms-grid))',
    'selector(:has(a))',
    'not (-moz-appearance:none)',
  ])('holds: %s', (condition) => expect(matchesSupports(condition)).toBe(true));
  it.each(['not (display:grid)', '(-ms-ime-align:auto)', '(-webkit-touch-callout:none)', ''])(
    'does not hold: %s',
    (condition) => expect(matchesSupports(condition)).toBe(false),
  );
});
