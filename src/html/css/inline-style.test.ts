import { expect, test } from 'vitest';
import { hidesText } from './inline-style.ts';

test.each([
  'display:none',
  'visibility: collapse',
  'opacity:0',
  'position:absolute;left:-9999px',
  'text-indent:-9999px',
  'font-size:1px',
  'font-size:0em',
  'color:transparent',
  'color:white;background:#fefefe',
  'clip-path:inset(50% 50%)',
  'width:0;overflow:hidden',
])('hides: %s', (style) => expect(hidesText(style)).toBe(true));

test.each([
  '',
  'color:red',
  'color:#fff',
  'color:#fff;background:#000',
  'font-size:.9em',
  'opacity:.5',
  'left:-9999px',
  'width:0',
])('does not hide: %s', (style) => expect(hidesText(style)).toBe(false));
